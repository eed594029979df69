"""The hot path: one compiled database runs over whole chunks; Python sees only the hits."""
