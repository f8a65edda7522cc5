"""Five in a row: an evaluation, and searches for this game only.

Modules:

    evaluation       rows of both colors, and whose turn it is
    patterns         tables of the patterns on a line through a cell
    pattern_board    a board with incrementally updated classes of each cell and color
    utility          the utility of a stone, as the report scores it
    report_levels    the three levels of the report "5 in a Row - Tic Tac Toe"
    pattern_classes  the classes of cells in `threat`, with their weights
    threat           the strongest search, which follows threats and fours
    swap_rule        the stones to place before the swap, and the color to choose
    weights_file     class weights as one array, and files of them
"""
