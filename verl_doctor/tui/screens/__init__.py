"""The screens: triage, incidents, rules, metrics, help, and small questions."""
