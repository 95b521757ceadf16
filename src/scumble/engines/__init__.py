"""Engines: what runs a statement over the published table. One file an engine."""
