"""Training for five in a row: class weights of the threat search.

patterns         the experiment
pattern_games    games of the search against itself, and training data from their positions
pattern_fit      class weights fitted to them
"""
