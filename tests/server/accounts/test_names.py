"""Names: which are accepted or refused and why, and which collide."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kibitz_server.accounts import names
from kibitz_server.accounts.names import MAX_LENGTH, BadName, claim, house_name, normalise, skeleton

GOOD = {
    "ada": "ada",
    "  Ada   Lovelace ": "Ada Lovelace",
    "ＡＤＡ１": "ADA1",  # fullwidth
    "a\N{NO-BREAK SPACE}b": "a b",
    "x_y-z.9": "x_y-z.9",
    "Дима": "Дима",
    "e\N{COMBINING ACUTE ACCENT}": "é",
    "हिन्दी": "हिन्दी",
    "שלום": "שלום",
    "x" * MAX_LENGTH: "x" * MAX_LENGTH,
}

BAD = {
    "": "at least one letter or digit",
    "   ": "at least one letter or digit",
    "-._": "at least one letter or digit",
    "a\0b": "U+0000",
    "a\nb": "U+000A",
    "a\tb": "U+0009",
    "a\x1bb": "U+001B",
    "ada\N{RIGHT-TO-LEFT OVERRIDE}x": "right-to-left override",
    "ada\N{LEFT-TO-RIGHT ISOLATE}x": "U+2066",
    "a\N{ZERO WIDTH SPACE}da": "zero width space",
    "a\N{ZERO WIDTH JOINER}da": "zero width joiner",
    "\N{ZERO WIDTH NO-BREAK SPACE}ada": "U+FEFF",
    "a\N{SOFT HYPHEN}da": "soft hyphen",
    "a\N{HANGUL FILLER}b": "U+1160",  # an invisible letter; the NFKC form is this one
    "a\N{VARIATION SELECTOR-16}": "variation selector-16",
    "a\N{COMBINING GRAPHEME JOINER}b": "combining grapheme joiner",
    "a\N{LINE SEPARATOR}b": "line separator",
    "\N{COMBINING ACUTE ACCENT}a": "combining acute accent",
    "a" + "\N{COMBINING TILDE BELOW}" * 3: "at most 2 marks",
    "<b>": "less-than sign",
    "a/b": "solidus",
    "a:b": "colon",
    "\N{BLACK CHESS PAWN}": "black chess pawn",
    "\ue000": "U+E000",
    "x" * (MAX_LENGTH + 1): "at most 32 characters",
    "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 2: "at most 32 characters",
}


@pytest.mark.parametrize(("typed", "shown"), GOOD.items())
def test_good_names_are_normalised(typed: str, shown: str) -> None:
    assert normalise(typed) == shown
    assert normalise(shown) == shown


@pytest.mark.parametrize(("typed", "why"), BAD.items())
def test_bad_names_are_refused_with_the_reason(typed: str, why: str) -> None:
    with pytest.raises(BadName) as refused:
        normalise(typed)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada", "ADA"),
        ("ada", "аda"),  # Cyrillic a
        ("ada", "ａｄａ"),
        ("Paul", "PauI"),
        ("paul", "pau1"),
        ("bill", "BILL"),
        ("bob", "b0b"),
        ("Bob", "Вob"),  # Cyrillic ve
        ("modern", "rnodern"),
        ("Modern", "rnodern"),
        ("hope", "һоре"),  # all Cyrillic
        ("Pan", "Ρan"),  # Greek capital rho
        ("pin", "ρin"),  # Greek rho
        ("ВАСЯ", "вася"),
        ("é", "e\N{COMBINING ACUTE ACCENT}"),
    ],
)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(normalise(one)) == skeleton(normalise(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bot 1", "bot 2"),
        ("ada", "adá"),
        ("van", "nan"),
        ("three", "thr33"),
        ("Дима", "Рима"),
        ("a b", "ab"),
        ("a-b", "a_b"),
        ("bot 6", "bot o"),
        ("rat", "yat"),
    ],
)
def test_names_that_differ_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


def test_ascii_letters_and_digits_collide_only_as_they_look() -> None:
    classes: dict[str, str] = {}
    for char in "abcdefghijklmnopqrstuvwxyz0123456789._- ":
        classes[skeleton(char)] = classes.get(skeleton(char), "") + char
    assert [look for look in classes.values() if len(look) > 1] == ["il1", "o0"]


def test_each_ascii_character_has_the_skeleton_that_the_confusables_give_it() -> None:
    characters = [*map(chr, range(128))]
    assert [*map(skeleton, characters)] == [*map(names._skeleton_of_char, characters)]


@given(st.text(st.characters(max_codepoint=127)))
def test_an_ascii_name_has_the_skeleton_that_it_has_before_other_letters(text: str) -> None:
    assert skeleton(f"{text}ж") == skeleton(text) + skeleton("ж")


COMPUTERS = ("Computer", "computer level 2", "Computеr 2 level 1", "c0mputer", "C.o.m.p.u.t.e.r 1")


@pytest.mark.parametrize(
    "name", ["house", "House of Cards", "hοuse 1", "HOUSE greedy", "h0use", *COMPUTERS]
)
def test_nobody_claims_the_name_of_a_house_bot(name: str) -> None:
    with pytest.raises(BadName, match="house bots"):
        claim(name)


@pytest.mark.parametrize("name", ["h.o.u.s.e 1", "_house", "h0u5e", "h o u s e greedy", "1house"])
def test_punctuation_makes_no_other_name_of_a_house_bot_s(name: str) -> None:
    with pytest.raises(BadName, match="house bots"):
        claim(name)


@pytest.mark.parametrize(
    "name",
    [
        "admin",
        "a.d.m.i.n",
        "ADMIN_",
        "Adm1n",
        "4dmin",
        "admin 7",
        "7 admin",
        "adrnin",
        "аdmin",
        "rооt",
        "server",
        "S3rver",
        "kibitz",
        "Kibitz Server",
        "root",
        "r00t",
        "-root-",
        "Moderator",
        "server admin 01",
    ],
)
def test_nobody_is_called_what_the_operator_would_be(name: str) -> None:
    with pytest.raises(BadName, match="taken for the operator"):
        claim(name)


@pytest.mark.parametrize("name", ["pаypal", "Дimа", "ada١ж", "αβγabc", "한글ж", "カタкана"])
def test_scripts_that_are_not_written_together_make_no_name(name: str) -> None:
    with pytest.raises(BadName, match="from one script"):
        claim(name)


def test_digits_of_two_systems_make_no_name() -> None:
    with pytest.raises(BadName, match="from one system"):
        claim("دا1٢")


@pytest.mark.parametrize(
    "name",
    [
        "my house",
        "Дима 2",
        "日本語カタカナひらがな bot",
        "한글 漢字 x",
        "ㄅㄆ漢字",
        "root-ab12",
        "root-1234",
        "badminton",
        "kibitzer",
        "admin ada",
        "observer",
        "rooted",
        "model",
        "é-ada",
        "हिन्दी",
        *filter(None, GOOD.values()),
    ],
)
def test_other_names_are_claimed_as_they_are(name: str) -> None:
    assert claim(f" {name} ") == name


PIECES = ("house", "h0use", "admin", "4dmin", "mod", "root", *"x1o-_.", "7", "00")


@given(st.lists(st.sampled_from(PIECES)))
def test_an_ascii_name_is_claimed_only_if_all_that_it_may_be_read_as_may_be(
    pieces: list[str],
) -> None:
    text = "".join(pieces)[:MAX_LENGTH] + "x"[: not pieces]
    try:
        names._refuse_spellings(normalise(text))
    except BadName as error:
        with pytest.raises(BadName, match=re.escape(str(error))):
            claim(text)
    else:
        assert claim(text) == text


def test_house_bots_are_named_after_their_level_or_their_personality() -> None:
    assert house_name("star/greedy-hand:depth=6", None, ()) == "house greedy-hand"
    assert house_name("star/greedy-hand:depth=6", 2, ()) == "Computer, level 2"
    longest = house_name("star/" + "x" * 99, None, {f"house {'x' * (MAX_LENGTH - 6)}"})
    assert len(longest) == MAX_LENGTH
    assert longest.endswith("x 2")


@pytest.mark.parametrize(
    ("level", "names"),
    [
        (None, ["house random", "house random 2", "house random 3"]),
        (1, ["Computer, level 1", "Computer 2, level 1", "Computer 3, level 1"]),
    ],
)
def test_house_bots_are_numbered_only_where_a_name_is_taken(
    level: int | None, names: list[str]
) -> None:
    taken = {"house greedy", "Computer, level 2"}
    for name in names:
        assert house_name("star/random", level, taken) == name
        taken.add(name)


def test_no_person_can_have_the_name_of_a_level() -> None:
    for taken in ((), {"Computer, level 1"}):
        name = house_name("star/random", 1, taken)
        with pytest.raises(BadName, match="must not contain this character: comma"):
            claim(name)
        with pytest.raises(BadName, match="house bots"):
            claim(name.replace(",", ""))


@given(st.text(max_size=40))
def test_a_name_is_normalised_once_and_for_all_or_refused(text: str) -> None:
    try:
        name = normalise(text)
    except BadName:
        return
    assert normalise(name) == name
    assert 1 <= len(name) <= MAX_LENGTH
    categories = {unicodedata.category(char)[0] for char in name.replace(" ", "")}
    assert not categories & {"C", "Z", "S"}


@given(st.text(alphabet=st.characters(max_codepoint=127, categories=("L", "N")), min_size=1))
def test_case_never_distinguishes_latin_names(text: str) -> None:
    assert skeleton(text) == skeleton(text.upper()) == skeleton(text.lower())


def test_a_prepared_server_builds_no_table_for_its_guests() -> None:
    names.prepare()
    before = names._confusables.cache_info().misses
    for name in ("ada", "Дима", "house", "שלום"):
        skeleton(name)
    assert names._confusables.cache_info().misses == before == 1
