"""The mechanism perturbed_generalization: its declaration."""
