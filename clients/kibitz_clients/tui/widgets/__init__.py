"""Widgets of the screens: the board, the players, the list of moves."""
