"""Attacks: one a file, each with one Finding."""
