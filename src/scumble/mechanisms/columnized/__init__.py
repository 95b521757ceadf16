"""The mechanism columnized: its declaration."""
