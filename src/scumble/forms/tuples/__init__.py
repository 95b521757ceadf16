"""Tuples with how often each occurs."""
