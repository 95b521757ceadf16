"""Mutants of the publishing code: each is a plausible bug, one edit of a source file, with which a table is published and then verified and audited.

    make mutants                                  all of them, with a table of what catches each
    python -m mutants NAME ...                    those whose names contain one of the words

A mutant publishes in a process of its own, whose import of one module is edited on the way (`child`). Files, hashes and manifest are as if nothing had
happened. Verifier and auditor run here, with the code as it is, and with the raw table.
"""
