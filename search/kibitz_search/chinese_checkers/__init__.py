"""Chinese Checkers: evaluations, and the race once opponents can no longer interact.

Modules:

    evaluation    seven evaluations
    indexing      ranks of peg sets in the holes nearest the goal
    race_db       the exact number of moves from each such set to the goal
    separation    tests whether opponents' pegs still matter
    race_beam     a beam search for the shortest race, with the database as heuristic
    opening       an opening book
    endgame       the race as the last phase of a search
    planner       the planner and the champion: a search and the race
    guided        Monte Carlo search with parameters for each number of seats
    phased        a search in phases: book, middle game, race
    hole_arrays   arrays of one number per hole, rotated for each goal
    learned       the trained arrays in the package's weights/ directory
    weights_file  files of such arrays
"""
