"""DuckDB: the only place that knows it."""
