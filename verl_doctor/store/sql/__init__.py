"""Every SQL statement of the store but its schema, one module for each module that calls it.

Statements only: what they mean is decided by their callers.
"""
