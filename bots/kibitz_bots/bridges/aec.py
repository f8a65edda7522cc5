"""The old name of `kibitz_bots.adapters.pettingzoo`."""

from kibitz_bots.adapters.pettingzoo import GameEnv, env
from kibitz_bots.deprecated import warn

__all__ = ["GameEnv", "env"]

warn("kibitz_bots.bridges.aec", "kibitz_bots.adapters.pettingzoo")
