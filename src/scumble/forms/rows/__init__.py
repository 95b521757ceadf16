"""A row for a row: every published row is one of the table, through its coins."""
