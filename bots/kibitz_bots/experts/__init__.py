"""What knows one game: proofs, databases and plans that no search for all games can have.

An expert is a search like those of `kibitz_bots.search` and is used in the same way. Who judges by
proof needs no evaluation: it is given an empty one and does not look at it.

chinese_checkers  the race by itself: its database, when it has begun, and a bot in phases
tanks             explorer and hunter: ways to new places, and where the others may be
five_in_a_row     threats, read off tables; the report's three levels
line_nim          every subset of the cells, 64 at once; misere theory of the parts; the
                  assignment's own alpha-beta
number_merge      every set of boundaries between the numbers
"""
