"""Training for Chinese Checkers: distances of holes, and priors of moves.

genetic          the report's genetic algorithm; with it genetic_fitness, genetic_figures and
                 genetic_selection
learned          the same array by an evolution strategy, as a function of few numbers
priors           which moves a search should try first; with it prior_games and prior_fit
hole_games       greedy games of arrays, many in machine code
plan_games       games of players that plan two moves of their own
"""
