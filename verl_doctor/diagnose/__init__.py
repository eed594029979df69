"""From matches to a verdict: incidents, roles, the root, the words."""
