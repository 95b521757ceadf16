"""The sections of the page, one a file: a function of the subject; templates/ has the template of the same name."""
