"""The panes. Each shows what it is given and posts messages; none knows another."""
