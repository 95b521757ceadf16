"""The studio: a local web application for the publisher's day, and for the officer who signs.

It edits a spec and runs commands, those that it shows; what it shows beside them comes from the rooms that the commands call. It listens at
127.0.0.1 alone, behind a token, and what it shows of raw rows is on the publisher's own screen: not in addresses, not in logs.
"""
