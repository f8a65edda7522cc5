"""Exact play, game by game: what a game's own theory can do that no search for all games can.

A solver is a search like those of `kibitz_bots.search` and is used in the same way, but it knows
one game. It judges by proof, so it needs no evaluation: it is given one and does not look at it.

line_nim      every subset of the cells, 64 at once; misere theory of the parts; the assignment's
              own alpha-beta
number_merge  every set of boundaries between the numbers
"""
