"""Exact play in number merge.

row     a position as boundaries, and what every merge earns
table   the worth of every set of boundaries
traps   what to hope for where nothing is won
ahead   alpha-beta, for rows that are too long for a table
solver  the search that puts these together
"""
