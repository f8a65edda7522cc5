"""Training for five in a row: class weights of the threat search.

patterns         the experiment
pattern_games    games of the search against itself, and what their positions say of the weights
pattern_fit      class weights fitted to them
"""
