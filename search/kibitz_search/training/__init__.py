"""Training: algorithms that find weights by play, and the files that they leave.

experiment  what `kibitz train` can run, and the run that it is given
parameters  the parameters of an experiment as text
genetic     the genetic algorithm of the report on Chinese Checkers, for any fitness
run         a run of it with its journal
journal     what a run has done so far, line by line, so that it can go on
weights     files of trained weights
output      files that are whole, or as they were
figures     charts of a run as SVG
statistics  intervals of what was counted
"""
