"""Spark, by Spark Connect alone: counts published rows, and publishes tables, on as many machines as there are. The only place that knows it."""
