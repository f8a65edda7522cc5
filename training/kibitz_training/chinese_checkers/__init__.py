"""Training for Chinese Checkers: distances of holes, and priors of moves.

Modules:

    genetic     the report's genetic algorithm, with genetic_fitness, genetic_figures and
                genetic_selection
    learned     an evolution strategy for the same array, as a function of few numbers
    priors      priors of moves for a search, with prior_games and prior_fit
    hole_games  greedy games of arrays, in batches in machine code
    plan_games  games of players that plan two moves of their own
    write_openings  the command that chooses the opening book's lines by games
"""
