"""Chinese Checkers: evaluations, and the race that is left when no peg can meet a foreign one.

evaluation  seven ways to judge a position
indexing    the holes nearest the goal, and sets of pegs in them as numbers
race_db     the exact number of moves that every such set is from the goal
separation  whether foreign pegs still matter
race_beam   the shortest race found from anywhere, with the database as its heuristic
opening     the first moves, from a book that was searched out in advance
endgame     the race as the last phase of a search
phased      a bot in phases: the book, a search in the middle, the race
hole_arrays one number a hole, turned for every goal
learned     the trained arrays that come with the package, in weights/
weights_file  files of such arrays
"""
