"""Pages that need no server: the modules that read and ask a release in a browser, and what puts them together into one file."""
