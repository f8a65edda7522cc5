"""Number merge: an evaluation and a solver.

Modules:

    evaluation  points
    boundaries  a position as a set of boundaries, and the gain of each merge
    retrograde  the value of every set of boundaries
    swindle     the probability of an opponent's error in positions that are not won
    lookahead   alpha-beta for rows that are too long for a table
    solver      the search that combines these
"""
