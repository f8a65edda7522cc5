"""The lines of text above and below the board of a match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kibitz_clients.matches.timeline import Timeline, TimelineCursor
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_games.core.scene import Scene
from kibitz_protocol import printable

if TYPE_CHECKING:
    from kibitz_clients.tui.kibitz_app import KibitzApp


def title(app: KibitzApp, timeline: Timeline, cursor: TimelineCursor, game: Game | None) -> Text:
    """Return the line above the board."""
    facts = timeline.info
    name = game.info.title if game else facts.game
    text = Text(name, style="bold", no_wrap=True, overflow="ellipsis")
    lobby = app.client_state.lobbies.get(facts.lobby or "")
    where = f" · {printable.line(lobby.settings.name)}" if lobby else ""
    seen = (
        "" if timeline.viewpoint is None else descriptions.viewpoint_text(facts, timeline.viewpoint)
    )
    text.append(f" · match {facts.number}{where} · ply {cursor.frame.ply}  ", "not bold")
    text.append("following  " if app.navigation.follow else "", app.palette.dim)
    text.append(f"{seen}  " if seen else "", f"bold {app.palette.viewpoint}")
    return text.append_text(_state(app, timeline, cursor))


def _state(app: KibitzApp, timeline: Timeline, cursor: TimelineCursor) -> Text:
    at, last = cursor.position
    if not app.online:
        return app.offline_text
    if not cursor.is_live:
        return Text(f"◀ step {at} of {last}", f"bold {app.palette.accent}")
    if app.recorded or timeline.over:
        return Text("■ over" if timeline.over else "■ unfinished", app.palette.dim)
    return Text("● live", f"bold {app.palette.hint}")


def status(
    app: KibitzApp, timeline: Timeline, cursor: TimelineCursor, game: Game | None, scene: Scene
) -> Text:
    """Return the line below the board: the result, or the last step and whose turn it is."""
    frame, facts, palette = cursor.frame, timeline.info, app.palette
    if timeline.result is not None and frame.seq == timeline.steps[-1].seq:
        winner = descriptions.result_summary(facts, timeline.result, game)
        return Text(winner, f"bold {palette.hint}")
    text = Text(no_wrap=True, overflow="ellipsis")
    seat = descriptions.acting_seat(frame)
    if seat is not None:
        player = descriptions.player_label(seat, facts.seats[seat], scene.colours)
        text.append(player, palette.seat(seat))
        text.append(f": {descriptions.step_text(game, frame)}")
        if frame.comment is not None:
            text.append(f"  {descriptions.comment_text(frame.comment)}", palette.dim)
        text.append("  ")
    if 0 <= frame.to_act < len(facts.seats):
        mover = descriptions.player_label(frame.to_act, facts.seats[frame.to_act], scene.colours)
        text.append(mover, f"bold {palette.seat(frame.to_act)}")
        text.append(" to move")
    return text
