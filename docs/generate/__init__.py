"""Generates pages of the documents from the code and from measured results."""
