"""A run started under the doctor: its output passed through, its end told, its hangs looked at.

What the run prints comes first: it is passed on byte for byte, and the doctor reads a copy behind
it. Never kills, never restarts, never writes to the run but what its terminal sends.
"""
