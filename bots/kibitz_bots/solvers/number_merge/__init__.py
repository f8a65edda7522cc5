"""Exact play in number merge.

row     a position as boundaries, and what every merge earns
table   the worth of every set of boundaries
ahead   alpha-beta, for rows that are too long for a table
solver  the search that puts these together
"""
