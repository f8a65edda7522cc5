"""Searches and evaluations: what a researcher imports. No network, no asyncio, no bots.

    algorithms        searches for all games, with their limits, results and stop timer
    chinese_checkers  evaluations, the race database, and an opening book
    five_in_a_row     an evaluation, a threat search over tables, and the report's three levels
    line_nim          an evaluation, retrograde analysis, misere theory, and the assignment's
                      alpha-beta player
    number_merge      an evaluation, and retrograde analysis over sets of boundaries
    tanks             an evaluation, the explorer and the hunter (pathfinding, tracking), networks
    weights           files of trained weights, which `kibitz_training` makes

A search for one game is used like a search for all games (`algorithms.interface.Search`). A search
that proves its results needs no evaluation: it gets an empty record and ignores it.
"""
