"""Tanks: an evaluation, two planners and two networks.

Modules:

    evaluation    points, distance to the next new cell, targets, and exposure to shots
    planners      the explorer, which only moves, and the hunter, which tracks, aims and hides
    networks      the report's network, and a small egocentric one
    weights_file  files of networks, including those in the package's weights/ directory
"""
