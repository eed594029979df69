"""Confirms with `regex` what the scan proposed, and joins confirmed lines into wider patterns."""
