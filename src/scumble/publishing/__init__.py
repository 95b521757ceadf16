"""TRUSTED: raw rows and randomness meet here, and in the `publish` of a mechanism."""
