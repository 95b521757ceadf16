"""A set of tuples, some of the table's and some made up."""
