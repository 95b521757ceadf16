"""The mechanism sps: its declaration."""
