"""Number merge: an evaluation and exact play.

Modules:

    evaluation  points
    boundaries  a position as a set of boundaries, and the gain of every merge
    retrograde  the worth of every set of boundaries
    swindle     chances of an opponent's error in positions that are not won
    lookahead   alpha-beta, for rows that are too long for a table
    solver      the search that combines these
"""
