"""The old name of `kibitz_bots.adapters.gymnasium`."""

from kibitz_bots.adapters.gymnasium import SoloEnv
from kibitz_bots.deprecated import warn

__all__ = ["SoloEnv"]

warn("kibitz_bots.bridges.solo", "kibitz_bots.adapters.gymnasium")
