"""The mechanism fine_grain: its declaration."""
