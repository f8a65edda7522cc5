"""Generators of documentation pages, from the code and from measured results."""
