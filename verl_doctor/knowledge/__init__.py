"""Rules: read and checked, found on disk, cached, explained."""
