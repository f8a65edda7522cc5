"""A match on the screen: the board, the players, the moves; live or stepped through."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from kibitz_clients import palette, replay, words
from kibitz_clients.follow import Frame, Playhead, Timeline
from kibitz_clients.looks import Overlay
from kibitz_clients.refold import PUBLIC
from kibitz_clients.screens.base import View
from kibitz_clients.screens.dialogs import Keys, Rules
from kibitz_clients.widgets.board import Board
from kibitz_clients.widgets.moves import Moves
from kibitz_clients.widgets.seats import Seats
from kibitz_games.api import Game
from kibitz_games.scene import Scene
from kibitz_protocol import printable

WATCHING = (
    ("left right", "step back and forth, also , and ."),
    ("home end", "to the first and the last step"),
    ("space", "live again"),
    ("p", "play the steps by themselves"),
    ("n", "the next match of the lobby"),
    ("f", "follow: go to the next match when this one ends"),
    ("l", "the lobby: members, standings"),
    ("#", "names of the places"),
    ("v", "through whose eyes, where players see different things and the match is over"),
    ("F2", "the rules of the game"),
    ("b", "back"),
    ("q", "quit"),
)
_PLAY_MS = 600
"""How long a step is shown when the steps play by themselves."""
_LINGER_MS = 4_000
"""How long the end of a match is shown before the next one opens by itself."""
_TICK_S = 0.2
"""How often clocks are redrawn, in seconds."""


class MatchScreen(View):
    """Follows one timeline."""

    DEFAULT_CSS = """
    MatchScreen { background: #14171d; color: #d5dae3; }
    MatchScreen #title { height: 1; background: #1d222b; padding: 0 1; }
    MatchScreen #body { height: 1fr; }
    MatchScreen #side { width: 28; border-left: vkey #2f3540; }
    MatchScreen.wide #side { width: 40; }
    MatchScreen #course { height: 1; padding: 0 1; color: #6f7a8c; }
    MatchScreen #status { height: auto; max-height: 4; padding: 0 1; background: #1d222b; }
    MatchScreen #keys { height: 1; padding: 0 1; color: #6f7a8c; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        ("left,up,comma", "step(-1)"),
        ("right,down,full_stop", "step(1)"),
        ("home", "first"),
        ("end,space", "live"),
        ("p", "play"),
        ("n", "next"),
        ("f", "follow"),
        ("l", "lobby"),
        ("number_sign", "names"),
        ("v", "eyes"),
        ("b", "back"),
        ("question_mark,f1", "help"),
        ("f2", "rules"),
        ("q", "app.quit"),
    ]

    def __init__(self, timeline: Timeline, game: Game | None) -> None:
        super().__init__()
        self.timeline = timeline
        self.playhead = Playhead(timeline)
        self.game = game
        self.names = False
        self.said = ""
        """What was just answered to this person: a refusal, or that a move is on its way."""
        self._playing = False
        # When the next step is shown, while they play by themselves.
        self._step_at = 0
        # When the end of the match was seen here; None for one that was over before.
        self._ended_at: int | None = None
        self._saw_it_run = not timeline.over
        # The newest scene that was made, and of which frame: most redraws are of clocks.
        self._drawn: tuple[Frame, Scene] | None = None

    @property
    def match(self) -> str:
        return self.timeline.facts.match

    def compose(self) -> ComposeResult:
        yield Static(id="title")
        with Horizontal(id="body"):
            yield Board(id="board")
            with Vertical(id="side"):
                yield Seats(id="seats")
                yield Static(id="course")
                yield Moves(id="moves")
        yield Static(id="status")
        yield Static(id="keys")

    def on_mount(self) -> None:
        self.set_interval(_TICK_S, self.told)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= 100, "wide")
        self.call_after_refresh(self.told)

    # ------------------------------------------------------------------------------ drawing

    def draw(self) -> None:
        self._play_on()
        self._go_on()
        frame = self.playhead.frame
        now = self.house.now()
        at, last = self.playhead.position
        scene = self.scene()
        self.query_one(Board).show(scene, self.overlay())
        self.query_one(Seats).show(self.timeline, frame, now, scene.colours)
        self.query_one(Moves).show(self.game, self.timeline, at, scene.colours)
        self.put("title", self._title())
        self.put("course", f"step {at} of {last}" if last else f"ply {frame.ply}")
        self.put("status", self.status())
        self.put("keys", self.keys())

    def scene(self) -> Scene:
        if self.game is None:
            name = self.timeline.facts.game
            return Scene("square", (), (), (f"this client does not know {name!r}",))
        frame = self.playhead.frame
        if self._drawn is None or self._drawn[0] is not frame:
            self._drawn = frame, replay.scene(self.game, frame)
        return self._drawn[1]

    def overlay(self) -> Overlay:
        """What is drawn over the board."""
        return Overlay(names=self.names)

    def _title(self) -> Text:
        facts = self.timeline.facts
        name = self.game.info.title if self.game else facts.game
        title = Text(name, style="bold", no_wrap=True, overflow="ellipsis")
        lobby = self.house.gallery.lobbies.get(facts.lobby or "")
        where = f" · {printable.line(lobby.settings.name)}" if lobby else ""
        ply = self.playhead.frame.ply
        seen = "" if self.timeline.eyes is None else words.eyes(facts, self.timeline.eyes)
        title.append(f" · match {facts.number}{where} · ply {ply}  ", "not bold")
        title.append(f"{seen}  " if seen else "", "bold #b7a5ff")
        return title.append_text(self._state())

    def _state(self) -> Text:
        at, last = self.playhead.position
        if not self.house.online:
            return Text("reconnecting …", "bold #ffb86b")
        if not self.playhead.live:
            return Text(f"◀ step {at} of {last}", "bold #f2de4b")
        if self.house.recorded or self.timeline.over:
            return Text("■ over" if self.timeline.over else "■ unfinished", palette.DIM)
        return Text("● live", f"bold {palette.HINT}")

    def status(self) -> Text:
        """The line below the board."""
        if self.said:
            return Text(printable.line(self.said), "bold #ffb86b")
        result = self.timeline.result
        if result is not None and self.playhead.frame.seq == self.timeline.steps[-1].seq:
            winner = words.winner(self.timeline.facts, result)
            return Text(winner, f"bold {palette.HINT}")
        return self._whose_turn()

    def _whose_turn(self) -> Text:
        frame = self.playhead.frame
        facts = self.timeline.facts
        colours = self.scene().colours
        text = Text(no_wrap=True, overflow="ellipsis")
        seat = words.doer(frame)
        if seat is not None:
            text.append(words.player(seat, facts.seats[seat], colours), palette.colour(seat))
            text.append(f": {words.step(self.game, frame)}")
            if frame.comment is not None:
                text.append(f"  {words.comment(frame.comment)}", palette.DIM)
            text.append("  ")
        if 0 <= frame.to_act < len(facts.seats):
            mover = words.player(frame.to_act, facts.seats[frame.to_act], colours)
            text.append(mover, f"bold {palette.colour(frame.to_act)}")
            text.append(" to move")
        return text

    def keys(self) -> str:
        """The keys that matter most now."""
        follow = "on" if self.house.follow else "off"
        return f"←→ step  space live  n next  f follow {follow}  b back  ? help  q quit"

    # ----------------------------------------------------------------------------- stepping

    def action_step(self, by: int) -> None:
        self._playing = False
        if by < 0:
            self.playhead.back()
        else:
            self.playhead.forward()
        self.told()

    def action_first(self) -> None:
        self.playhead.first()
        self.told()

    def action_live(self) -> None:
        self._playing = False
        self.playhead.go_live()
        self.told()

    def action_play(self) -> None:
        """Play the steps from here, or from the start when all of them were seen."""
        self._playing = not self._playing
        self._step_at = self.house.now() + _PLAY_MS
        if self._playing and self.playhead.live:
            self.playhead.first()
        self.told()

    def _play_on(self) -> None:
        """Go to the next step when the present one was shown long enough."""
        if self._playing and self.house.now() >= self._step_at:
            self._step_at += _PLAY_MS
            self.playhead.forward()
            self._playing = not self.playhead.live

    def _go_on(self) -> None:
        """Leave for the next match when the end of this one was shown long enough."""
        if not (self.timeline.over and self._saw_it_run):
            return
        if self._ended_at is None:
            self._ended_at = self.house.now()
        lingered = self.house.now() - self._ended_at >= _LINGER_MS
        if lingered and self.house.follow and self.playhead.live and self.is_current:
            self.house.go_on(self.timeline.facts)

    def on_moves_clicked(self, message: Moves.Clicked) -> None:
        self._playing = False
        self.playhead.go(message.seq)
        self.told()

    # ------------------------------------------------------------------------- other screens

    def action_names(self) -> None:
        self.names = not self.names
        self.told()

    def action_eyes(self) -> None:
        """See the match as the next seat saw it, as the public did, or with everything shown."""
        timeline = self.timeline
        if self.game is None or not self.game.info.hidden:
            self.app.notify("everybody sees the same in this game")
        elif timeline.looks is None:
            self.app.notify("what the others see is shown when the match is over")
        else:
            order = [None, *range(len(timeline.facts.seats)), PUBLIC]
            timeline.look(order[(order.index(timeline.eyes) + 1) % len(order)])
            self.told()

    def action_next(self) -> None:
        self.house.show_next(self.timeline.facts)

    def action_follow(self) -> None:
        self.house.follow = not self.house.follow
        self.told()

    def action_lobby(self) -> None:
        if self.timeline.facts.lobby is not None:
            self.house.show_lobby(self.timeline.facts.lobby)

    def action_back(self) -> None:
        self.house.back()

    def action_help(self) -> None:
        self.app.push_screen(Keys("A match", WATCHING))

    def action_rules(self) -> None:
        """Show the rules of the game, or what is known of it where there is no page."""
        page = self.house.rules(self.timeline.facts.game)
        if page is None and self.game is not None:
            info = self.game.info
            page = f"# {info.title}\n\n{info.summary}\n\n{info.legal_rule}"
        if page is None:
            self.app.notify("this client does not know the rules of this game", markup=False)
        else:
            self.app.push_screen(Rules(page))
