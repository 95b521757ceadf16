"""Random inputs, a file for each kind: what makes them, and what has to hold of each."""
