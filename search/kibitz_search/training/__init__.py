"""Training: algorithms that find weights by play, and the files that they leave.

genetic   the genetic algorithm of the report on Chinese Checkers, for any fitness
journal   what a run has done so far, line by line, so that it can go on
weights   files of trained weights
figures   charts of a run as SVG
"""
