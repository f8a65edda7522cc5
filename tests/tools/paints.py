"""Merge patches of drawings, as created by the server and the record pages."""

from __future__ import annotations

from kibitz_games.core.drawing import differing_parts
from kibitz_games.core.scene import Scene
from kibitz_protocol.wire.merge_patch import difference
from kibitz_protocol.wire.values import Fields


def paint_between(before: Scene, after: Scene) -> Fields:
    """Return the merge patch from the stage of `before` to the stage of `after`."""
    return difference(*differing_parts(before, after))
