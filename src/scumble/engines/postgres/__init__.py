"""PostgreSQL: a database that releases live in. The only place that knows its SQL."""
