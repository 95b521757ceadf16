"""One file each: what somebody writes who adds a mechanism, an aggregate, an engine or a source."""
