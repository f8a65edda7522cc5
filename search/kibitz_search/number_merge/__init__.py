"""Number merge: an evaluation and exact play.

evaluation  points
boundaries  a position as boundaries, and what every merge earns
retrograde  the worth of every set of boundaries
swindle     what to hope for where nothing is won
lookahead   alpha-beta, for rows that are too long for a table
solver      the search that puts these together
"""
