"""Players that follow a plan of their game, with the searches of `kibitz_bots.search` as tools.

tanks    explorer and hunter: ways to new places, and where the others may be
"""
