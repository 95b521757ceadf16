"""What a publisher decides about a table: roles, domains, coarsening, and the privacy that is wanted."""
