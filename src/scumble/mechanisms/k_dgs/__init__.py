"""The mechanism k_dgs: its declaration."""
