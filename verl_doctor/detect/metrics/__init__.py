"""Metrics in a log: lines read into columns, and the metric rules judged over them."""
