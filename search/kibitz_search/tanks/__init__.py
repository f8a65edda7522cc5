"""Tanks: an evaluation and two players that plan.

evaluation  points, the way to the next new place, aiming, and staying out of lines
planners    the explorer, who only walks, and the hunter, who looks, aims and hides
"""
