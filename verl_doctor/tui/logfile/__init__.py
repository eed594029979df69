"""A log of any size, shown at any place in flat memory: bytes, lines, what of them is shown, search.

No screen here: everything can be tested without a terminal.
"""
