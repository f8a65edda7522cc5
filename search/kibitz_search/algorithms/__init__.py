"""Searches for all games, written with the operations of `kibitz_games`.

Modules:

    interface    the interfaces of a search and an evaluation
    limits       time, depth and node limits
    result       the result of a search
    timer        stops a search at a deadline, at a node count, or from another thread
    outcome      an evaluation for any game that scores only finished games
    greedy       one ply: the move with the best evaluation afterwards, also for a group of seats
    deepening    iterative deepening
    iddfs        iterative deepening over the player's own moves
    beam         a beam search over the player's own moves
    terminal     the value of a finished game, for every search
    score        the value of a position in two-seat searches
    minimax      full-width minimax for two seats
    alphabeta    alpha-beta with a transposition table
    utility      the value of a position for each seat
    multiplayer  the kernel of all multiplayer searches
    maxn         max^n: each seat maximizes its own value
    paranoid     all other seats play against the seat to act
    brs          best-reply search: one opponent replies to each of the player's actions
    mpmix        max^n, paranoid or offensive, depending on the leads
    maxprob      each seat maximizes its probability of winning
    playout      fast randomized playouts
    mcts         Monte Carlo tree search, also with hidden information
    phased       an opening book and a database before another search
    pathfinding  breadth-first distances and A* on a grid
    hugepages    memory for large tables
    support      the check that a search supports a game
"""
