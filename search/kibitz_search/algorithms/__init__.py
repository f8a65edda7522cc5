"""Searches, each one function for all games, over the operations of `kibitz_games`.

Modules:

    interface    the interfaces of a search and an evaluation
    limits       time, depth and node limits
    result       the result of a search
    timer        stops a search by the clock, by node count, or from another thread
    outcome      an evaluation for any game that scores finished plays only
    greedy       one ply: the move that leads to the best evaluation
    deepening    iterative deepening
    iddfs        iterative deepening over the player's own moves only
    terminal     the value of a finished play, for every search
    score        the value of a position in two-seat searches, with decided positions
    minimax      full-width minimax for two seats
    alphabeta    alpha-beta with a transposition table
    utility      the value of a position to every seat at once
    multiplayer  the common part of searches for many seats
    maxn         max^n: each seat maximizes its own value
    paranoid     all other seats play against the seat to act
    brs          best-reply search: one opponent answers each own action
    mpmix        max^n, paranoid or offensive, depending on the leads
    maxprob      each seat maximizes its probability of winning
    playout      quick randomized playouts
    mcts         Monte Carlo tree search, also with hidden information
    conspiracy   one ply for a group of cooperating seats
    phased       a book and a database around another search
    pathfinding  breadth-first distances and A* on a grid
    hugepages    memory for tables
    support      reasons why a search for one game cannot play another
"""
