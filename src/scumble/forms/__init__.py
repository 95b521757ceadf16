"""What a published table looks like, and so how it is asked, checked and described."""
