"""Rows with the number of a bucket, and the values of each bucket."""
