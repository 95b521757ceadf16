"""What an attacker can learn, in formulas: pure functions of channels and numbers."""

from scumble.privacy.rho import gamma, posterior_bound, posteriors

__all__ = ["gamma", "posterior_bound", "posteriors"]
