"""What the made-up tables of many tests have in common."""

DISEASES = ["flu", "cold", "asthma", "diabetes", "hiv"]
"""The values of the sensitive column, the commonest first."""
ILLS = ["flu", "cold", "hiv"]
"""The same, where three are enough."""
