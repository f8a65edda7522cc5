"""Chinese Checkers: evaluations, and the race that is left when no peg can meet a foreign one.

Modules:

    evaluation    seven evaluations
    indexing      ranks of the sets of pegs in the holes nearest the goal
    race_db       the exact distance of every such set from the goal, in moves
    separation    tests whether foreign pegs still matter
    race_beam     beam search for the shortest race, with the database as heuristic
    opening       an opening book
    endgame       the race as the last phase of a search
    phased        a search in phases: book, middle game, race
    hole_arrays   arrays of one number per hole, turned for each goal
    learned       the trained arrays that come with the package, in weights/
    weights_file  files of such arrays
"""
