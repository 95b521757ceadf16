"""What attacks read: published rows with what each column is, the raw table, and the laws that the manifest states."""
