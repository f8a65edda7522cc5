"""Training for five in a row: class weights of the threat search.

patterns         the experiment
pattern_games    self-play games of the search, and training data from their positions
pattern_fit      fits class weights to them
"""
