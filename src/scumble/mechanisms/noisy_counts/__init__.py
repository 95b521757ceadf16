"""The mechanism noisy_counts: its declaration."""
