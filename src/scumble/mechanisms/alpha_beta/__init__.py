"""The mechanism alpha_beta: its declaration."""
