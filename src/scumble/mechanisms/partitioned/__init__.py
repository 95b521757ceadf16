"""The mechanism partitioned: its declaration."""
