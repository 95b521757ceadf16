"""The mechanism uniform: its declaration."""
