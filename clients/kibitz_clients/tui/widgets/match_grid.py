"""Many matches at once: a tile for each, with its board, players and last move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kibitz_clients import palette
from kibitz_clients.matches.timeline import Frame, Timeline
from kibitz_clients.palette import Palette
from kibitz_clients.render import match_picture
from kibitz_clients.render.terminal import canvas, miniature
from kibitz_clients.render.terminal.canvas import DrawnBoard
from kibitz_clients.tui import wall_slots
from kibitz_clients.tui.widgets import seats
from kibitz_clients.wording import descriptions
from kibitz_games.core.game import Game
from kibitz_games.core.scene import PieceColour, Scene

_SIDE: Final = 10
"""The minimum number of columns beside a board for players' names."""
_WIDEST_SIDE: Final = 32
"""The maximum number of columns for names and clocks."""


@dataclass(frozen=True)
class Tile:
    """The content of one tile: a match, or `title` and `note` if there is none yet."""

    key: str
    title: str
    note: str = ""
    timeline: Timeline | None = None
    game: Game | None = None


class MatchGrid(Widget):
    """Draws tiles in a grid; a click on one posts `MatchGrid.Clicked`."""

    DEFAULT_CSS = "MatchGrid { width: 1fr; height: 1fr; }"
    can_focus = False

    class Clicked(Message):
        """The tile with this key was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._tiles: Sequence[Tile] = ()
        self._rows: list[Strip] = []
        self._colors = palette.DARK
        # The last drawing of each match's board, with its frame and size.
        self._boards: dict[tuple[str, str], tuple[Frame, tuple[int, int], DrawnBoard | None]] = {}
        # The latest scene of each match.
        self._scenes: dict[str, tuple[Frame, Scene]] = {}

    def show(self, tiles: Sequence[Tile], now: int, colors: Palette) -> None:
        """Draw the tiles; running clocks show the time left at `now`."""
        if colors is not self._colors:
            self._colors = colors
            self._boards = {}
        self._tiles = tiles
        matches = {tile.timeline.info.match for tile in tiles if tile.timeline is not None}
        self._boards = {key: drawn for key, drawn in self._boards.items() if key[0] in matches}
        self._scenes = {key: made for key, made in self._scenes.items() if key in matches}
        across, down, width, height = self._measures()
        rows: list[Strip] = []
        for line in range(down):
            drawn = [
                self._tile(tile, width, height, now) for tile in tiles[line * across :][:across]
            ]
            gap = Strip.blank(1, self._ground)
            for row in range(height):
                cells = [part for strips in drawn for part in (strips[row], gap)]
                rows.append(Strip.join(cells[:-1]).crop_extend(0, self.size.width, self._ground))
        if rows != self._rows:
            self._rows = rows
            self.refresh()

    def render_line(self, y: int) -> Strip:
        return self._rows[y] if y < len(self._rows) else Strip.blank(self.size.width, self._ground)

    def on_click(self, event: events.Click) -> None:
        across, _, width, height = self._measures()
        place = event.y // max(1, height) * across + min(across - 1, event.x // (width + 1))
        if place < len(self._tiles):
            self.post_message(self.Clicked(self._tiles[place].key))

    def _measures(self) -> tuple[int, int, int, int]:
        """Return the numbers of tiles across and down, and the size of each in columns and rows."""
        columns, rows = self.size
        across, down = wall_slots.grid_shape(len(self._tiles), columns, rows)
        width, height = (columns + 1) // across - 1, rows // max(1, down)
        return across, down, max(1, width), max(2, height)

    def _tile(self, tile: Tile, width: int, height: int, now: int) -> list[Strip]:
        timeline = tile.timeline
        head = Text(f"{tile.key:>2} ", f"bold {self._colors.accent}")
        head.append(tile.title, "bold")
        if timeline is None:
            note = Text(tile.note, self._colors.dim, justify="center")
            body = [Text()] * ((height - 2) // 2) + [note]
            return [
                self._strip(head, width, self._head),
                *(self._strip(_centred(line, width), width) for line in body),
                *[Strip.blank(width, self._ground)] * (height - 1 - len(body)),
            ]
        frame = timeline.newest
        ply = f"ply {frame.ply}"
        head.truncate(max(1, width - len(ply) - 1), overflow="ellipsis", pad=True)
        head.append(f" {ply}", self._colors.dim)
        body_rows = self._body(tile, timeline, frame, width, height - 2, now)
        return [
            self._strip(head, width, self._head),
            *body_rows,
            self._strip(self._last_line(tile, timeline, frame), width),
        ]

    def _body(
        self, tile: Tile, timeline: Timeline, frame: Frame, width: int, height: int, now: int
    ) -> list[Strip]:
        """Return the board with the players beside it, or below a wide board."""
        players, colours = len(timeline.info.seats), self._scene(tile, timeline, frame).colours
        columns = max(1, width // (seats.ONE_LINE + 5))
        below = -(-players // columns)
        wide = self._board(tile, timeline, frame, width, height - below, "below")
        tall = self._board(tile, timeline, frame, width - _SIDE - 1, height, "beside")
        if wide is None and tall is None:
            names = seats.compact_lines(
                timeline, frame, now, width, height - 1, self._colors, colours
            )
            drawn = [Text("window too small", self._colors.dim), *names]
            return self._padded([self._strip(line, width) for line in drawn], width, height)
        if tall is None or (wide is not None and _area(wide) > _area(tall)):
            assert wide is not None
            rows = [self._centred_row(wide, row, width) for row in range(wide.height)]
            rows = [
                *[Strip.blank(width, self._ground)] * ((height - below - len(rows)) // 2),
                *rows,
            ]
            rows = self._padded(rows, width, height - below)
            return rows + self._table(timeline, frame, now, width, columns, colours)
        side = min(width - tall.width - 1, _WIDEST_SIDE)
        left = (width - tall.width - 1 - side) // 2
        lines = seats.compact_lines(timeline, frame, now, side, height, self._colors, colours)
        top, first = (height - tall.height) // 2, (height - len(lines)) // 2
        rows = []
        for y in range(height):
            row, line = y - top, y - first
            board = tall.segments(row) if 0 <= row < tall.height else [self._blank(tall.width)]
            name = lines[line] if 0 <= line < len(lines) else Text()
            joined = [Strip([self._blank(left), *board, self._blank(1)]), self._strip(name, side)]
            rows.append(Strip.join(joined).crop_extend(0, width, self._ground))
        return rows

    def _table(
        self,
        timeline: Timeline,
        frame: Frame,
        now: int,
        width: int,
        columns: int,
        colours: Sequence[PieceColour],
    ) -> list[Strip]:
        """Return the players in columns; four form two rows of two."""
        players = len(timeline.info.seats)
        columns = -(-players // -(-players // columns))
        room = (width + 1) // columns - 1
        lines = [
            seats.seat_line(timeline, frame, seat, now, room, self._colors, colours)
            for seat in range(players)
        ]
        strips = [self._strip(line, room + 1) for line in lines]
        rows = [strips[first : first + columns] for first in range(0, players, columns)]
        return [Strip.join(row).crop_extend(0, width, self._ground) for row in rows]

    def _board(
        self, tile: Tile, timeline: Timeline, frame: Frame, width: int, height: int, where: str
    ) -> DrawnBoard | None:
        """Return the board as large as possible, or None; cached until the position changes."""
        key = timeline.info.match, where
        known = self._boards.get(key)
        if known is None or known[0] is not frame or known[1] != (width, height):
            board = fit_board(self._scene(tile, timeline, frame), width, height, self._colors)
            self._boards[key] = known = frame, (width, height), board
        return known[2]

    def _scene(self, tile: Tile, timeline: Timeline, frame: Frame) -> Scene:
        match = timeline.info.match
        if match not in self._scenes or self._scenes[match][0] is not frame:
            self._scenes[match] = frame, _bare_scene(tile, timeline, frame)
        return self._scenes[match][1]

    def _last_line(self, tile: Tile, timeline: Timeline, frame: Frame) -> Text:
        if timeline.result is not None:
            summary = descriptions.result_summary(timeline.info, timeline.result, tile.game)
            return Text(summary, f"bold {self._colors.hint}")
        seat = descriptions.acting_seat(frame)
        if seat is None:
            return Text()
        colours = self._scene(tile, timeline, frame).colours
        text = Text()
        label = descriptions.player_label(seat, timeline.info.seats[seat], colours)
        text.append(label, self._colors.seat(seat))
        return text.append(f" {descriptions.step_text(tile.game, frame)}", self._colors.text)

    def _strip(self, text: Text, width: int, style: Style | None = None) -> Strip:
        style = style or self._ground
        line = text.copy()
        line.no_wrap = True
        line.truncate(width, overflow="ellipsis")
        rendered = line.render(self.app.console, end="")
        segments = [
            Segment(
                segment.text, style + segment.style if isinstance(segment.style, Style) else style
            )
            for segment in rendered
        ]
        return Strip(segments).crop_extend(0, width, style)

    def _padded(self, rows: list[Strip], width: int, height: int) -> list[Strip]:
        return [*rows, *[Strip.blank(width, self._ground)] * (height - len(rows))][:height]

    def _centred_row(self, board: DrawnBoard, row: int, width: int) -> Strip:
        left = max(0, (width - board.width) // 2)
        strip = Strip([self._blank(left), *board.segments(row)])
        return strip.crop_extend(0, width, self._ground)

    def _blank(self, width: int) -> Segment:
        return Segment(" " * max(0, width), self._ground)

    @property
    def _ground(self) -> Style:
        return Style(color=self._colors.text, bgcolor=self._colors.background)

    @property
    def _head(self) -> Style:
        return Style(color=self._colors.text, bgcolor=self._colors.panel)


def fit_board(scene: Scene, width: int, height: int, colors: Palette) -> DrawnBoard | None:
    """Return `scene` drawn as large as possible, in miniature if necessary, or None."""
    if width <= 0 or height <= 0 or not scene.cells:
        return None
    scale = canvas.fitting_tile_size(scene, width, height)
    if scale is not None:
        return canvas.draw(scene, scale, colors=colors)
    columns, rows = miniature.size(scene)
    fits = columns <= width and rows <= height and miniature.suits(scene)
    return miniature.draw(scene, colors) if fits else None


def _bare_scene(tile: Tile, timeline: Timeline, frame: Frame) -> Scene:
    """Return the board of a frame without row names and buttons, which only players need."""
    if tile.game is None:
        return Scene("square", ())
    scene = match_picture.frame_scene(tile.game, frame, timeline.info.seats)
    cells = tuple(cell for cell in scene.cells if cell.kind != "button")
    return replace(scene, cells=cells, labels=())


def _area(board: DrawnBoard) -> int:
    return board.width * board.height


def _centred(line: Text, width: int) -> Text:
    return Text(" " * max(0, (width - cell_len(line.plain)) // 2)).append_text(line)
