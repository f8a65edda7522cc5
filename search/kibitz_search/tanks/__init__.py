"""Tanks: an evaluation and two players that plan.

Modules:

    evaluation    points, the way to the next new place, aiming, and staying out of lines
    planners      the explorer, which only walks, and the hunter, which looks, aims and hides
    networks      the report's network, and a small one that looks from its tank
    weights_file  their files, and those that come with the package in weights/
"""
