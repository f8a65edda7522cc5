"""Searches and evaluations, the package for researchers. It contains no network code and no bots.

    algorithms        searches for all games, with limits, results and stop timers
    chinese_checkers  evaluations, the race database and an opening book
    five_in_a_row     an evaluation, a table-driven threat search, and the report's three levels
    line_nim          an evaluation, retrograde analysis, misere theory, and the assignment's player
    number_merge      an evaluation, and retrograde analysis over sets of boundaries
    tanks             an evaluation, the explorer and the hunter (pathfinding, tracking), networks
    weights           files of trained weights, written by `kibitz_training`

Searches for one game have the same interface as searches for all games
(`algorithms.interface.Search`). Solvers do not use an evaluation; callers pass them an empty
record.
"""
