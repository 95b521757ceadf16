"""The mechanism anatomy: its declaration."""
