"""Searches and evaluations: what a researcher imports. No network, no asyncio, no bots.

algorithms        searches for all games, and what they share (limits, results, the stop timer)
chinese_checkers  evaluations; the race by itself: its database, when it has begun, a book
five_in_a_row     an evaluation; threats, read off tables; the report's three levels
line_nim          an evaluation; every subset of the cells, 64 at once; misere theory of the parts;
                  the assignment's own alpha-beta
number_merge      an evaluation; every set of boundaries between the numbers
tanks             an evaluation; explorer and hunter: ways to new places, where the others may be
weights           files of trained weights, which `kibitz_training` makes

A search of one game is used like one for all games (`algorithms.interface.Search`). One that judges
by proof needs no evaluation: it is given an empty record and does not look at it.
"""
