"""Bots of kibitz: the SDK, the runner that connects a bot to a server, searches, personalities.

sdk            Bot, Turn, Choice, Match: what an author of a bot sees
budget         how long to think
runner         one connection, its matches, its turns
process        ``python -m kibitz_bots``: a bot as a process
loading        from a word on the command line to a bot
personalities  the house bots by name
search         searches, each one function for all games
evaluate       what a position is worth, one module a game
"""

from kibitz_bots.budget import Budget
from kibitz_bots.loading import SpecError, load
from kibitz_bots.sdk import Bot, Choice, Match, Turn

__all__ = ["Bot", "Budget", "Choice", "Match", "SpecError", "Turn", "load"]
