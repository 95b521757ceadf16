"""The error of an audit: how often a sound release is accused, by all attacks together.

Every attack that looks at chance has a share of it, fixed before anything is seen, and keeps to that share: it finds that a law is broken only where
the law itself gives what was seen, or more, a smaller probability. By the union bound a sound release is then accused with probability ERROR at most, however
the attacks hang together. Attacks that are not listed count facts, of which a sound release has none.
"""

ERROR = 1e-5
"""Of one audit."""

SHARES = {
    "retention": 0.14,
    "law": 0.2,
    "coins": 0.16,
    "whole rows": 0.06,
    "dealing": 0.08,
    "noise": 0.1,
    "sampling": 0.06,
    "order": 0.08,
    "inference": 0.04,
    "corruption": 0.02,
    "averaging": 0.02,
    "bytes": 0.02,
    "seeds": 0.02,
}
"""What each attack has of it."""


def error_of(attack: str) -> float:
    """The probability with which an attack may accuse a sound release.

    >>> sum(SHARES.values()) <= 1, error_of("law") == 0.2 * ERROR
    (True, True)
    """
    return ERROR * SHARES[attack]
