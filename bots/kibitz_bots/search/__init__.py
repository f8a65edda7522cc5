"""Searches, each one function for all games, over the operations of `kibitz_games`.

found     what a search answers
alarm     ending a search in time, from another thread
one_ply   the best move by what the position is worth after it
iddfs     planning the own moves ahead, as deep as the time allows
"""
