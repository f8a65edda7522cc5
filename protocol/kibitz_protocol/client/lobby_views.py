"""A client's copies of lobbies and the hall, to which it applies the server's patches."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kibitz_protocol.wire.codec import DecodeError
from kibitz_protocol.wire.lobbies import LobbyView, MatchBrief
from kibitz_protocol.wire.merge_patch import apply
from kibitz_protocol.wire.messages import LobbyChanged
from kibitz_protocol.wire.refusals import Code
from kibitz_protocol.wire.values import Fields

_M = TypeVar("_M", bound=BaseModel)


def patched(model: _M, patch: Fields) -> _M:
    """Return a model with a patch applied; raises `DecodeError` if the result is invalid."""
    # For speed, convert only the fields that the patch names to JSON and back.
    before = model.model_dump(mode="json", exclude_none=True, include=set(patch))
    kept = {name: value for name, value in model.__dict__.items() if name not in patch}
    try:
        return type(model).model_validate(kept | apply(before, patch), extra="ignore")
    except ValidationError as error:
        raise DecodeError(
            Code.MALFORMED, f"a patch from the server does not apply: {error}"
        ) from None


class LobbyViews:
    """The lobbies that one connection has received; `views` are replaced, never modified."""

    def __init__(self) -> None:
        self.views: dict[str, LobbyView] = {}

    def tell(self, view: LobbyView) -> None:
        """Store a whole lobby."""
        self.views[view.lobby] = view

    def forget(self, lobby: str) -> None:
        """Forget a closed lobby."""
        self.views.pop(lobby, None)

    def change(self, changed: LobbyChanged) -> LobbyView | None:
        """Apply a change and return the new view; None if the whole lobby has not arrived yet."""
        view = self.views.get(changed.lobby)
        if view is None:
            return None
        self.views[view.lobby] = after = patched(view, changed.patch)
        return after

    def match_started(self, lobby: str, brief: MatchBrief) -> LobbyView | None:
        """Add a running match and return the new view; None for an unknown lobby."""
        view = self.views.get(lobby)
        return None if view is None else self._run(view, {**view.live, brief.match: brief})

    def match_ended(self, lobby: str, match: str) -> LobbyView | None:
        """Remove a finished match and return the new view; None for an unknown lobby."""
        view = self.views.get(lobby)
        if view is None:
            return None
        return self._run(view, {key: brief for key, brief in view.live.items() if key != match})

    def _run(self, view: LobbyView, live: dict[str, MatchBrief]) -> LobbyView:
        self.views[view.lobby] = changed = view.model_copy(update={"live": live})
        return changed
