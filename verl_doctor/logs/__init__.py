"""From bytes to what was said: colours off, prefixes peeled, tracebacks put together again."""
