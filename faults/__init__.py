"""Faults, on purpose: publications that are killed, or whose disk fails, at every call and at random moments. `make faults` runs them all."""
