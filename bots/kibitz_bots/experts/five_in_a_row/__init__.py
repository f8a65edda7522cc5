"""Searches that know one game: five in a row.

patterns   what a line through a cell holds for the colour that plays there
field      the board with a class for each cell and colour, kept up to date stone by stone
levels     the three levels of the report "5 in a Row - Tic Tac Toe"
threat     the strong one: threats at every node, fours to the end
classes    what `threat` gives for each class of cells
swap       how both choose a colour, and what they put before the other one chooses
"""
