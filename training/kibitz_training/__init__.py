"""The experiments of `kibitz train`, from playing games to writing weights.

    experiments      the table of experiments, and the tasks that workers run for them
    experiment       the interfaces of an experiment and a run
    parameters       parsing and describing the parameters of an experiment
    evolution        evolution runs with an ask-and-tell strategy
    cma, genetic     such strategies: CMA-ES, and a report's genetic algorithm
    game_batches     runs that fit weights to games
    journal          the log of a run, from which it can resume
    parts            splits a batch of individuals for workers
    output           writes files atomically
    figures          charts of a run as SVG
    chinese_checkers, five_in_a_row, tanks
                     the experiments of each game

`kibitz_search.weights` reads the weights, so bots do not need this package.
"""
