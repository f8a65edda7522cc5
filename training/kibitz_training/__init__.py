"""Training: what `kibitz train` runs, from the games that are played to the files that are left.

experiments      the table of experiments, and what workers compute for them
experiment       an experiment, and the run that it is given
parameters       the parameters of an experiment as text
evolution        runs of strategies that are asked for arrays and told their fitness
cma, genetic     such strategies: CMA-ES, and the genetic algorithm of a report
game_batches     runs that fit weights to games
journal          what a run has done so far, line by line, so that it can go on
parts            a batch of individuals that is computed elsewhere
output           files that are whole, or as they were
figures          charts of a run as SVG
chinese_checkers, five_in_a_row, tanks
                 the experiments of each game

Weights are read by `kibitz_search.weights`, and play without this package.
"""
