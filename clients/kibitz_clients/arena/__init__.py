"""The arena's pure core: events, their schedules, journals, ratings and results.

    event       what a file or flags say: who plays what, how often, in which format
    schedule    which games that makes, in which order; Swiss rounds as results come in
    journal     what has happened, as lines that survive everything; what is left to play
    ratings     how strong the entrants are, and how sure that is
    sequential  whether one entrant is better than another, decided as early as possible
    results     all of it as one model, which tables, exports and pages are made from

Nothing here opens a socket, starts a process, reads a clock or draws unseeded numbers: whoever
plays the games passes times in and writes down what happened.
"""
