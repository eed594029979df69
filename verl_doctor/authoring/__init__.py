"""For those who write rules: lint, proof on examples, drafts, coverage. Diagnosing needs none."""
