"""Games and openings of other programs: valid files, and refusals with line numbers."""

from __future__ import annotations

import re

import pytest

from kibitz_games.core import registry
from kibitz_games.core.game_file import GameFile, GameFileError, Opening
from kibitz_games.five_in_a_row import files
from kibitz_games.five_in_a_row.models import NOTATION, Options

HEAD = "Piskvorky 15x15, 11:11, 0"


def psq(*lines: str, head: str = HEAD, end: str = "\r\n") -> bytes:
    return end.join([head, *lines, ""]).encode("cp1252")


def cells(game: GameFile) -> list[str]:
    return [NOTATION.format(move) for move in game.moves]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_game_of_a_tournament(end: str) -> None:
    names = ("C:\\brains\\pbrain-Embryo.exe", "PBRAIN-rapfi.zip", "-1")
    game = files.read_psq(psq("8,8,0", "9,8,1200", "1,15,7", *names, end=end))
    assert cells(game) == ["h8", "i8", "a15"]
    assert game.players == ("Embryo", "rapfi")
    assert game.options == {"size": 15, "exact": False, "first": "seat-0"}


@pytest.mark.parametrize(
    ("data", "moves", "players"),
    [
        (psq(), [], ()),
        (psq("8,8"), ["h8"], ()),
        (psq("8,8,5", "-1"), ["h8"], ()),
        (psq("8,8,5", "a", "b"), ["h8"], ("a", "b")),
        (psq("8,8,5", "a", "b", "1,Freestyle"), ["h8"], ("a", "b")),
        (psq("8,8,5", "a", "b", "-1", head=HEAD[:-1] + "1"), ["h8"], ("b", "a")),
        (psq("8,8,5", "J\xf6rg\x1b[2J", "b"), ["h8"], ("J\ufffdrg[2J", "b")),
        (psq("8,8,5", "a" * 50, "b"), ["h8"], ("a" * 32, "b")),
        (b"\xef\xbb\xbf" + psq("8,8,5"), ["h8"], ()),
        (psq(" 8 , 8 , 5 ", head="Piskvorky 15x15"), ["h8"], ()),
        (psq("5,1,0", head="Piskvorky 5x5, 0:0, 0"), ["e1"], ()),
        (psq("20,20,0", head="Piskvorky 20x20, 0:0, 0"), ["t20"], ()),
    ],
)
def test_forms_of_psq(data: bytes, moves: list[str], players: tuple[str, ...]) -> None:
    game = files.read_psq(data)
    assert (cells(game), game.players) == (moves, players)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "line 1: expected a header such as"),
        (b"\x00\xff\xfe", "line 1: expected a header such as"),
        (psq(head="Gomoku 15x15"), "line 1: expected a header such as"),
        (psq(head="Piskvorky 15x"), "line 1: expected a header such as"),
        (psq(head="Piskvorky 15x15, 11:11, 2"), "line 1: expected a header such as"),
        (psq(head="Piskvorky 15x20, 0:0, 0"), "line 1: expected a square board, found 15x20"),
        (
            psq(head="Piskvorky 4x4, 0:0, 0"),
            "line 1: expected a board size from 5 to 20, found 4x4",
        ),
        (
            psq(head="Piskvorky 21x21, 0:0, 0"),
            "line 1: expected a board size from 5 to 20, found 21x21",
        ),
        (psq("8,8,0", "0,8,0"), "line 3: expected a cell on a 15x15 board"),
        (psq("8,8,0", "16,8,0"), "line 3: expected a cell on a 15x15 board"),
        (psq("8,8,0", "8,-3,0"), "line 3: expected a cell on a 15x15 board"),
        (psq("8,8,0", "9,9,0", "8,8,0"), "line 4: expected an empty cell"),
        (psq("8,8,0", "8;9;0", "9,9,0"), "line 3: expected a stone as x,y,milliseconds"),
        (psq("8,8,0", "9,"), "line 3: expected a stone as x,y,milliseconds, or two names"),
        (psq("8,8,0", "9,9" * 9), "line 3: expected a stone"),
        (psq("8,8,0", "9" * 5000 + ",9,0"), "line 3: expected a stone"),
        (psq("8,8,0", "a", "b", "c"), "line 5: expected a result code"),
        (psq("8,8,0", "a", "b", "1", "9,9,0"), "line 3: expected a stone"),
    ],
)
def test_a_psq_that_is_malformed(data: bytes, expected: str) -> None:
    with pytest.raises(GameFileError, match=re.escape(expected)):
        files.read_psq(data)


def row(count: int) -> list[str]:
    """Black fills a row from both ends to its middle, white plays along two others."""
    order = [1, 2, 3, 6, 5, 4][:count]
    black = [f"{x},1,0" for x in order]
    white = [f"{1 + 2 * (n // 2)},{3 + 2 * (n % 2)},0" for n in range(count)]
    return [stone for pair in zip(black, white, strict=True) for stone in pair]


def test_six_stones_win_unless_play_goes_on() -> None:
    over = files.read_psq(psq(*row(6)[:-1]))
    assert over.options["exact"] is False
    on = files.read_psq(psq(*row(6)))
    assert on.options["exact"] is True
    assert len(on.moves) == 12


def test_nothing_follows_a_five() -> None:
    stones = ["1,1", "1,3", "2,1", "3,5", "3,1", "5,7", "4,1", "7,9", "5,1", "9,11"]
    assert len(files.read_psq(psq(*stones[:-1])).moves) == 9
    with pytest.raises(GameFileError, match="line 11: expected no stone after the winning one"):
        files.read_psq(psq(*stones))


@pytest.mark.parametrize(
    ("text", "moves", "players"),
    [
        ("(;GM[4]FF[4]SZ[15]PB[Ada]PW[Bob];B[hh];W[ah])", ["h8", "a8"], ("Ada", "Bob")),
        ("(;GM[1]SZ[19];B[aa];W[sa];B[as])", ["a1", "s1", "a19"], ()),
        ("(;SZ[15];B[hh](;W[gg];B[ab])(;W[ii]))", ["h8", "g7", "a2"], ()),
        ("(;SZ[15]C[no move];C[nor here];B[hh])", ["h8"], ()),
        ("(;GM[4]SZ[15])", [], ()),
        ("  (;GM[4]SZ[20]PW[\u00e9];B[tt])\n", ["t20"], ("", "\u00c3\u00a9")),
        ("(;GM[4]SZ[20]CA[UTF-8]PW[\u00e9];B[tt])", ["t20"], ("", "\u00e9")),
    ],
)
def test_forms_of_sgf(text: str, moves: list[str], players: tuple[str, ...]) -> None:
    game = files.read_sgf(text.encode())
    assert (cells(game), game.players) == (moves, players)


def test_an_sgf_may_open_a_variation_for_each_move() -> None:
    cells = [(x, y) for y in range(0, 20, 2) for x in range(20)][:150]
    stones = []
    for n, (x, y) in enumerate(cells):
        shifted = (x + 5 * (y // 2)) % 20
        stones.append(f"(;{'BW'[n % 2]}[{chr(97 + shifted)}{chr(97 + y)}]")
    text = f"(;GM[4]SZ[20]{''.join(stones)}{')' * len(stones)})"
    assert len(files.read_sgf(text.encode()).moves) == 150


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected SGF: no SGF data found"),
        ("hello", "expected SGF: no SGF data found"),
        ("(;GM[4]SZ[15];B[hh]", "expected SGF: "),
        ("(;GM[4]SZ[x])", "expected SGF: "),
        ("(;GM[4]SZ[15]CA[klingon]PB[a])", "expected SGF: "),
        ("(;GM[2]SZ[15])", "expected GM[4] or GM[1], found GM[2]"),
        ("(;GM[4]SZ[26])", "expected a board size from 5 to 20, found 26x26"),
        ("(;GM[4]SZ[4])", "expected a board size from 5 to 20, found 4x4"),
        ("(;SZ[15];B[hh])(;SZ[15];B[hh])", "expected one game, found 2"),
        ("(;SZ[15]AB[hh];W[gg])", "expected moves (B and W), found setup stones"),
        ("(;SZ[15];W[hh])", "move 1: expected black, which is to move"),
        ("(;SZ[15];B[hh];B[gg])", "move 2: expected white, which is to move"),
        ("(;SZ[15];B[hh];W[])", "move 2: expected a cell, found a pass"),
        ("(;SZ[15];B[hh];W[hh])", "move 2: expected an empty cell"),
        ("(;SZ[15];B[hh];W[zz])", "expected SGF: "),
    ],
)
def test_an_sgf_that_is_malformed(text: str, expected: str) -> None:
    with pytest.raises(GameFileError, match="line 1: ") as caught:
        files.read_sgf(text.encode())
    assert expected in str(caught.value)


def test_offsets_count_from_the_middle() -> None:
    text = b"8,-3, 6,-4, 5,-4\r\n\r\n-10,-10, 9,9\r\n 0 , 0 \r\n"
    assert files.read_offsets(text, Options(size=20)) == [
        Opening(1, ("s8", "q7", "p7")),
        Opening(3, ("a1", "t20")),
        Opening(4, ("k11",)),
    ]
    assert files.read_offsets(b"-7,-7, 7,7", Options(size=15)) == [Opening(1, ("a1", "o15"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,0\n1,2, 3", "line 2: expected pairs such as 0,0, 1,-2"),
        ("0,0\n\n1 2", "line 3: expected pairs"),
        ("h8 g7", "line 1: expected pairs"),
        ("0,0,", "line 1: expected pairs"),
        ("1.5,2", "line 1: expected pairs"),
        ("0,0 # center", "line 1: expected pairs"),
        ("0,0\n10,0", "line 2: expected a cell on a 20x20 board"),
        ("0,-11", "line 1: expected a cell on a 20x20 board"),
        ("\u0661,0", "line 1: expected pairs"),
    ],
)
def test_offsets_that_are_malformed(text: str, expected: str) -> None:
    with pytest.raises(GameFileError, match=re.escape(expected)):
        files.read_offsets(text.encode(), Options(size=20))


def test_openings_from_games() -> None:
    options = Options(size=15)
    assert files.read_psq_opening(psq("8,8", "9,9"), options) == [Opening(1, ("h8", "i9"))]
    two = b"(;SZ[15];B[hh];W[aa])(;SZ[15];B[bb])"
    assert files.read_sgf_openings(two, options) == [
        Opening(1, ("h8", "a1")),
        Opening(1, ("b2",)),
    ]
    for size in (14, 20):
        with pytest.raises(GameFileError, match=f"expected a {size}x{size} board, found 15x15"):
            files.read_psq_opening(psq("8,8"), Options(size=size))
    with pytest.raises(GameFileError, match="expected at least one stone"):
        files.read_psq_opening(psq(), options)


def test_every_format_is_that_of_a_game() -> None:
    game = registry.get("five-in-a-row")
    assert {*game.file_formats} == {".psq", ".sgf"}
    assert {*game.opening_formats} == {".txt", ".psq", ".sgf"}
