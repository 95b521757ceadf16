"""Rows that stand for groups: a box, a size and a value."""
