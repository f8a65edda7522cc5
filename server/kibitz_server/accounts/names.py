"""Decides which texts may be names, and which names look too similar.

`normalise` checks every name that people type. It returns the name to display, in NFKC and with
spaces collapsed. The name has only letters, digits, combining marks on letters, spaces, dots,
dashes and underscores. So names contain no NUL, no control or format characters, no direction
overrides, and nothing invisible.

`skeleton` maps a name to a text shared by all names that look like it (following Unicode Technical
Standard 39, section 4, and its table of confusables), regardless of case. Skeletons are only
compared, never displayed. Each name has a unique skeleton.

`claim` checks a name that is about to be assigned, and also refuses, in any spelling:

* letters of scripts that are not used together (UTS 39, section 5.2, "highly restrictive"), and
  mixed digit systems;
* names of house bots, and names that suggest an operator or the server itself.

Names that were assigned earlier remain valid.

    BadName     a name that is refused; `str()` is a message for a person (a `ValueError`)
"""

from __future__ import annotations

import itertools
import re
import string
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache

MAX_LENGTH = 32
"""The maximum length of a normalized name, in characters."""
HOUSE_PREFIXES = ("house", "computer")
"""The prefixes of house bots' names; no other player may use them."""
RESERVED_WORDS = (
    *("admin", "administrator", "server", "kibitz", "root", "system", "sysop", "operator"),
    *("moderator", "mod", "support", "staff", "official", "referee", "arbiter"),
)
"""Words that suggest a person in charge, alone or combined."""
SCRIPT_COMBINATIONS = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
"""Scripts that may be combined in one name, as in Japanese, Chinese and Korean."""
_SCRIPTLESS = frozenset({"COMMON", "INHERITED"})
_LEET = str.maketrans("435897", "aesbgt")
"""Digits that can be read as letters; `skeleton` handles 0 and 1."""
_ASCII_SKELETONS = str.maketrans(
    dict(zip(string.ascii_uppercase, string.ascii_lowercase, strict=True))
    | {
        '"': "\ua78c\ua78c",
        "%": "\xba\u2cc7\u2080",
        "&": "\ua778",
        "'": "\ua78c",
        "-": "\u2cbb",
        "/": "\u2cc7",
        "0": "o",
        "1": "i",
        "2": "\u01a8",
        "3": "\u021d",
        "4": "\uab9e",
        "5": "\U000118db",
        "6": "\u0431",
        "7": "\U000104fa",
        "8": "\u0223",
        "9": "\u2ccb",
        "?": "\u0242",
        "l": "i",
        "L": "i",
        "m": "rn",
        "M": "rn",
        "`": "\ua78c",
        "|": "i",
    }
)
"""The skeletons of ASCII characters, so that a process with ASCII names builds no large table."""
_MAX_DIGITS = 2
"""A reserved word stays reserved with up to this many digits around it, as in ``admin 7``."""
_PUNCTUATION = " ._-"
_WITHOUT_PUNCTUATION = str.maketrans("", "", _PUNCTUATION)
_PLAIN = re.compile(r"[A-Za-z0-9 ._-]+")
"""Matches nearly all names; every character in it is allowed."""
_MAX_MARKS = 2
"""The most marks on one letter; more would extend into the lines above and below."""
_INVISIBLE = frozenset(
    map(
        chr,
        (
            0x034F,  # combining grapheme joiner
            *(0x115F, 0x1160, 0x3164, 0xFFA0),  # Hangul fillers
            *(0x17B4, 0x17B5),  # Khmer inherent vowels
            *range(0x180B, 0x1810),  # Mongolian variation selectors
            *range(0xFE00, 0xFE10),  # variation selectors
            *range(0xE0100, 0xE01F0),  # variation selectors supplement
        ),
    )
)
"""Invisible letters and marks (the property Default_Ignorable_Code_Point)."""


class BadName(ValueError):
    """The name is refused; `str()` is a message for a person."""


def normalise(name: str) -> str:
    """Return `name` in its display form, or raise `BadName` with the reason."""
    text = unicodedata.normalize("NFKC", name)
    _refuse_characters(text)
    text = " ".join(text.split())
    if len(text) > MAX_LENGTH:
        raise BadName(
            f"a name may have at most {MAX_LENGTH} characters, but {text!r} has {len(text)}"
        )
    if not any(map(str.isalnum, text)):
        raise BadName(f"a name must have at least one letter or digit, unlike {text!r}")
    return text


def claim(name: str) -> str:
    """Normalize a requested name; raise `BadName` if it may not be assigned."""
    text = normalise(name)
    _refuse_spellings(text)
    if not text.isascii():
        _refuse_mixture(text)
    return text


def prepare() -> None:
    """Build the tables for names beyond ASCII in advance, which takes a fifth of a second."""
    _confusables()


def _refuse_spellings(text: str) -> None:
    """Refuse a text that reads like the name of a house bot or a person in charge."""
    spellings = set(_spellings(text))
    for prefix in HOUSE_PREFIXES:
        if any(spelling.startswith(_canonical_spelling(prefix)) for spelling in spellings):
            raise BadName(f"names that begin with {prefix!r} are reserved for house bots: {text!r}")
    if any(_reserved_pattern().fullmatch(spelling) for spelling in spellings):
        raise BadName(f"{text!r} could be taken for the operator's name: choose another")


def house_name(personality: str, level: int | None, taken: Collection[str]) -> str:
    """Return the name of a house bot, which has a number if the name without it is `taken`.

    A bot that is a level of its game is ``Computer, level 2``, with a comma, which `normalise`
    refuses. Any other bot is ``house greedy-hand``.
    """
    bot = personality.partition("/")[2].partition(":")[0]
    for number in itertools.count(1):
        shown = f" {number}" if number > 1 else ""
        if level is None:
            room = MAX_LENGTH - len(f"house {shown}")
            name = normalise(f"house {bot[:room]}{shown}")
        else:
            name = f"Computer{shown}, level {level}"
        if name not in taken:
            return name
    raise AssertionError("the numbers never end")


@lru_cache(maxsize=4096)  # different readings of a name have most parts in common
def skeleton(name: str) -> str:
    """Return the text that `name` shares with all names that look like it."""
    if name.isascii():
        return name.translate(_ASCII_SKELETONS)
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", name))
    return "".join(_skeleton_of_char(char) for char in text)


def _refuse_mixture(text: str) -> None:
    """Refuse letters of scripts that are not used together, and mixed digit systems."""
    from confusable_homoglyphs.categories import alias  # reads a large file

    scripts = {alias(char) for char in text} - _SCRIPTLESS
    if len(scripts) > 1 and not any(scripts <= together for together in SCRIPT_COMBINATIONS):
        mixed = " and ".join(sorted(script.capitalize() for script in scripts))
        raise BadName(f"the letters of a name must be from one script, but {text!r} mixes {mixed}")
    zeros = {ord(char) - unicodedata.decimal(char) for char in text if char.isdecimal()}
    if len(zeros) > 1:
        raise BadName(f"the digits of a name must be from one system, unlike those of {text!r}")


def _spellings(text: str) -> Iterator[str]:
    """Yield the readings of a name, without punctuation and surrounding numbers."""
    letters = text.translate(_WITHOUT_PUNCTUATION)
    before = [n for n in range(_MAX_DIGITS + 1) if not n or letters[:n].isdecimal()]
    after = [n for n in range(_MAX_DIGITS + 1) if not n or letters[-n:].isdecimal()]
    for start in before:
        for end in after:
            yield _canonical_spelling(letters[start : len(letters) - end])


def _canonical_spelling(letters: str) -> str:
    """Return a text that all spellings of a word with digits or look-alikes have in common."""
    return skeleton(letters.translate(_LEET))


@cache
def _reserved_pattern() -> re.Pattern[str]:
    return re.compile(
        f"(?:{'|'.join(re.escape(_canonical_spelling(word)) for word in RESERVED_WORDS)})+"
    )


def _refuse_characters(text: str) -> None:
    if _PLAIN.fullmatch(text):
        return
    marks = 0
    for index, char in enumerate(text):
        category = unicodedata.category(char)
        marks = marks + 1 if category[0] == "M" else 0
        if not _allowed(char, category) or (marks and text[:index][-1:] in {"", " "}):
            label = unicodedata.name(char, f"U+{ord(char):04X}").lower()
            raise BadName(f"a name must not contain this character: {label} (U+{ord(char):04X})")
        if marks > _MAX_MARKS:
            raise BadName(f"a letter of a name may have at most {_MAX_MARKS} marks: {text!r}")


def _allowed(char: str, category: str) -> bool:
    if char in _INVISIBLE:
        return False
    return char in _PUNCTUATION or category[0] == "L" or category in {"Nd", "Mn", "Mc"}


@lru_cache(maxsize=4096)
def _skeleton_of_char(char: str) -> str:
    looks = _confusables()
    return looks.get(char) or looks.get(char.casefold()) or char.casefold()


@cache
def _confusables() -> Mapping[str, str]:
    """Return the canonical text for each character in the table of confusables.

    The table pairs a character with one or more characters (`m` and `rn`) that look like it, in no
    particular direction. So a class contains all texts connected by pairs, and its least member
    represents it. The upper and lower case of a letter are in one class, unless both classes
    already contain Latin letters or digits. For example, small Greek nu looks like v and capital nu
    like N, but v and n must stay different.
    """
    from confusable_homoglyphs.confusables import confusables_data  # reads a large file

    classes = _ConfusableClasses()
    pairs = [
        (_without_direction_marks(char), _without_direction_marks(pair["c"]))
        for char, pairs in confusables_data.items()
        for pair in pairs
    ]
    for char, other in pairs:
        classes.join(char, other)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        classes.join(letter, letter.upper())
    for char in sorted({char for pair in pairs for char in pair if len(char) == 1}):
        for sibling in (char.lower(), char.upper()):
            if len(sibling) == 1 and not (classes.latin(char) and classes.latin(sibling)):
                classes.join(char, sibling)
    return {
        char: spelling
        for members in classes.distinct()
        for spelling in [classes.spelling(members)]
        for char in members
        if len(char) == 1
    }


def _without_direction_marks(text: str) -> str:
    """Remove the direction marks that the table has around right-to-left text."""
    return text.replace("\N{LEFT-TO-RIGHT MARK}", "")


class _ConfusableClasses:
    """Classes of texts that look alike, which can be merged."""

    def __init__(self) -> None:
        self._class: dict[str, set[str]] = {}

    def distinct(self) -> Collection[set[str]]:
        """Return each class once."""
        return {id(members): members for members in self._class.values()}.values()

    def join(self, one: str, other: str) -> None:
        ours, theirs = self._of(one), self._of(other)
        if ours is theirs:
            return
        ours |= theirs
        for text in theirs:
            self._class[text] = ours

    def latin(self, text: str) -> bool:
        """Return whether the text's class has a Latin letter or a digit, with or without marks."""
        return any(char.isascii() for member in self._of(text) for char in member)

    def spelling(self, members: Iterable[str]) -> str:
        """Return a class's longer text in canonical form or, if it has none, its least member."""
        longer = min((member for member in members if len(member) > 1), default="")
        if not longer:
            return _representative(members)
        return "".join(
            _representative(self._of(char)) for char in unicodedata.normalize("NFD", longer)
        )

    def _of(self, text: str) -> set[str]:
        return self._class.setdefault(text, {text})


def _representative(members: Iterable[str]) -> str:
    """Return the least text, lower-case letters first, to keep skeletons readable."""
    single = (member for member in members if len(member) == 1)
    return min(single, key=lambda member: (not member.islower(), member))
