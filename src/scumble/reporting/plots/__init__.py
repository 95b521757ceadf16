"""The charts of the page, one a file: from numbers to an Altair chart of a given width."""
