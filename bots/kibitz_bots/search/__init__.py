"""Searches, each one function for all games, over the operations of `kibitz_games`.

limits     how long and how far a search may look
found      what a search answers
alarm      ending a search in time, from another thread
one_ply    the best move by what the position is worth after it
deepening  looking one ply ahead, then two, until the time is up
iddfs      planning the own moves ahead, as deep as the time allows
worth      what a position is worth to one of two, and when it is decided
minimax    every line of play between two, down to a depth
alphabeta  what minimax finds, without looking at what cannot matter
standing   what a position is worth to every seat at once
many_seats what the searches for many seats have in common
maxn       every seat does what is best for itself
paranoid   all others have joined against the seat to act
brs        one of the others may answer each own action
mpmix      one of these manners, by how far somebody is ahead
maxprob    everybody goes for the best chances
playout    playing on by quick guesses and some chance
mcts      Monte Carlo tree search, with hidden information too
"""
