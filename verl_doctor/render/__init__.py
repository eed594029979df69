"""Reports as text, JSON and Markdown: pure functions from a Report to a string."""
