"""Number merge: an evaluation and a solver.

Modules:

    evaluation  points, and the expected lead at the end
    boundaries  a position as a set of boundaries, and the gain of each merge
    retrograde  the value of every set of boundaries
    swindle     the probability of an opponent's error in positions that are not won
    solver      the search that combines these
"""
