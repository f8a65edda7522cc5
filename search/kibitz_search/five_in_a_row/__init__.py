"""Five in a row: an evaluation, and searches that know this game only.

evaluation       rows of both colours, and whose turn it is
patterns         what a line through a cell holds for the colour that plays there
pattern_board    the board with a class for each cell and colour, updated stone by stone
utility          the utility of a stone, as the report scores it
report_levels    the three levels of the report "5 in a Row - Tic Tac Toe"
pattern_classes  what `threat` gives for each class of cells
threat           the strong one: threats at every node, fours to the end
swap_rule        how both choose a colour, and what they put before the other one chooses
weights_file     class weights as one array, and files of them
"""
