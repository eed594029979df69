"""Detectors: facts that need several lines (signals, elastic, NCCL, metrics, silence, phases)."""
