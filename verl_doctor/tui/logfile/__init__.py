"""A log of any size at any place, in flat memory: bytes, lines, which are shown, search.

No screen here: everything can be tested without a terminal.
"""
