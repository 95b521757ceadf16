"""Releases: written once, public whole, opened by anyone."""
