"""Searches, each one function for all games, over the operations of `kibitz_games`.

interface    what a search and an evaluation are
limits       how long and how far a search may look
result       what a search answers
timer        ending a search in time, from another thread, or after so many positions
outcome      the evaluation that knows no game
greedy       the best move by what the position is worth after it
deepening    looking one ply ahead, then two, until the time is up
iddfs        planning the own moves ahead, as deep as the time allows
terminal     what a play that is over is worth, to every search
score        what a position is worth to one of two, and when it is decided
minimax      every line of play between two, down to a depth
alphabeta    alpha-beta with a transposition table: the values of minimax, sooner
utility      what a position is worth to every seat at once
multiplayer  what the searches for many seats have in common
maxn         every seat does what is best for itself
paranoid     all others have joined against the seat to act
brs          one of the others may answer each own action
mpmix        max^n, paranoid or offensive, by how far somebody is ahead
maxprob      everybody goes for the best chances
playout      playing on by quick guesses and some chance
mcts         Monte Carlo tree search, with hidden information too
conspiracy   one move ahead for seats that hold together
phased       a book and a database around another search
pathfinding  breadth-first distances and A* on a grid
hugepages    memory for tables
support      why a search of one game cannot play another
"""
