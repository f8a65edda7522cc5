"""Five in a row: an evaluation, and searches for this game.

Modules:

    evaluation       an evaluation by the rows of both colors and the side to move
    patterns         tables of patterns on lines through a cell
    pattern_board    a board with incrementally updated classes for each cell and color
    utility          the utility of a stone, as defined in the report
    report_levels    the three levels of the report "5 in a Row - Tic Tac Toe"
    pattern_classes  the cell classes used by `threat`, with their weights
    threat           the strongest search, based on threats and fours
    swap_rule        swap openings: the stones to place, and the color to choose
    weights_file     class weights as arrays and files
"""
