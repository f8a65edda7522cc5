"""The themes of boards, in the order in which a scene's cells are drawn."""

from __future__ import annotations

from kibitz_clients.render.svg.themes.cards import CARDS
from kibitz_clients.render.svg.themes.crossings import CROSSINGS
from kibitz_clients.render.svg.themes.tiles import TILES
from kibitz_clients.render.svg.themes.wood import WOOD

THEMES = (WOOD, CROSSINGS, CARDS, TILES)
