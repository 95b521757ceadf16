"""The mechanism frapp: its declaration."""
