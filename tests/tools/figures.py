"""Find measured figures in the documents without a source: `python -m tests.tools.figures`.

A *figure* is a number that looks measured:

    a percentage                   "scores 97%", but not "95% interval"
    a result                       "19-1" or "57-13-30": won and lost, or won, drawn and lost
    a rate                         "20,000 moves/s", "4,000 messages per second"
    a duration with a fraction     "0.05 s", "1.4 ms", and all durations in µs or ns
    a difference in Elo            "+35 Elo"
    a ratio                        "2.5 times faster"
    a mean score                   "342 points on average", ".98"

Every figure needs a source, which is one of these:

    a generated page or region     `python -m docs.generate` writes it from stored results
    a link in the same paragraph   to `strength.md`, `experiments.md` or a page of `docs/appendix`
                                   that contains the figure
    a comment in the same section  `<!-- figures: measured by `COMMAND` at COMMIT, DATE -->`,
                                   `<!-- figures: rounded from PAGE -->` with a page of evidence, or
                                   `<!-- figures: KIND -->` with one of the kinds in `UNMEASURED`;
                                   below the title of a page, it covers all sections

The linked page must have the figure as the same text, so a new measurement that changes the page
reveals outdated prose. Code, code blocks, dates and comments have no figures. Pages of
`docs/appendix` are dated evidence and are not checked. Exit status 1 if a figure has no source.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.tools.prose import GENERATED

ROOT: Final = Path(__file__).parents[2]
EVIDENCE: Final = ("docs/strength.md", "docs/experiments.md", "docs/appendix/")
"""The pages that a figure may cite."""
UNMEASURED: Final = {
    "definitions": "numbers that define a term, a setting or a limit",
    "examples": "output of an example",
    "theory": "numbers that follow from a formula or a proof",
    "literature": "numbers from a cited publication",
}
"""The kinds of numbers that look measured and are not, as used in comments."""
_UNIT: Final = r"(?:moves|nodes|games|matches|frames|positions|messages|steps|plies|iterations)"
_FIGURE: Final = re.compile(
    r"(?<![\w.,-])(?:"
    r"\d[\d.,]*%(?! (?:confidence )?(?:interval|error))"
    r"|\d+-\d+(?:-\d+)?(?![\w-])"
    rf"|\d[\d.,]* {_UNIT}(?:/s| per second| a second)"
    r"|\d[\d.,]* (?:µs|ns)\b"
    r"|\d*\.\d+ (?:s|ms|seconds|milliseconds)\b"
    r"|[+−-]?\d[\d.,]* Elo\b"
    r"|\d[\d.,]* times (?:as|faster|slower|more|less)\b"
    r"|\d[\d.,]* points (?:on average|per game|per match)"
    r"|\.\d+(?!\w)"
    r")"
)
_NO_FIGURES: Final = re.compile(
    r"`[^`]*`|\d{4}-\d{2}-\d{2}|(?<=\])\([^)]*\)|<!--.*?-->|<https?:[^>]*>|https?://\S+"
)
_LINK: Final = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_COMMENT: Final = re.compile(r"<!-- figures: (.+?) -->", re.DOTALL)
_MEASURED: Final = re.compile(r"measured by `[^`]+` at [0-9a-f]{12}, \d{4}-\d{2}-\d{2}", re.DOTALL)
_ROUNDED: Final = re.compile(r"rounded from (\S+)")
_REGION: Final = re.compile(r"<!-- [\w ]+: `python -m docs\.generate` writes")
_REGION_END: Final = re.compile(r"<!-- [\w ]+ end -->")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")


@dataclass(frozen=True)
class Finding:
    """A figure without a source, or a comment that is not one."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Block:
    """Consecutive lines of a document outside code blocks and generated regions."""

    line: int
    text: str

    @property
    def is_heading(self) -> bool:
        return self.text.startswith("#")


def main() -> int:
    """Print the figures without a source; return 1 if there are any."""
    count = 0
    for path in documents():
        for finding in check(path.read_text(encoding="utf-8"), path):
            place = f"{path.relative_to(ROOT)}:{finding.line}"
            print(f"{place}: {finding.text}: {finding.reason}")
            count += 1
    print(f"{count} figures without a source", file=sys.stderr)
    return 1 if count else 0


def documents() -> list[Path]:
    """Return the documents to check."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = {path: path.relative_to(ROOT).as_posix() for path in found}
    return [
        path
        for path, name in names.items()
        if name not in GENERATED and not name.startswith("docs/appendix/")
    ]


def check(text: str, path: Path) -> Iterator[Finding]:
    """List the figures without a source in the text of the document at `path`."""
    covered = False
    for section in sections(blocks(text)):
        comments = [reason for block in section for reason in _COMMENT.findall(block.text)]
        for reason in comments:
            if not is_source(reason, path):
                yield Finding(section[0].line, reason, "is not a source")
        covered = covered or (bool(comments) and section[0].text.startswith("# "))
        if not covered and not comments:
            yield from _uncited(section, path)


def is_source(reason: str, path: Path) -> bool:
    """Return whether the text of a comment in the document at `path` is a source."""
    rounded = _ROUNDED.fullmatch(reason)
    if rounded is not None:
        return _is_evidence((path.parent / rounded[1]).resolve())
    return reason in UNMEASURED or _MEASURED.fullmatch(reason) is not None


def figures(text: str) -> list[str]:
    """Return the figures in a text."""
    prose = _NO_FIGURES.sub("", " ".join(text.split()))
    return [found.rstrip(".,") for found in _FIGURE.findall(prose)]


def blocks(text: str) -> Iterator[Block]:
    """List the blocks of a document: headings, paragraphs, lists and tables."""
    start, lines = 1, list[str]()
    fenced = generated = False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fence = _FENCE.match(line) is not None
        generated = generated or _REGION.match(line) is not None
        hidden = fenced or fence or generated
        if lines and (hidden or not line.strip() or line.startswith("#")):
            yield Block(start, "\n".join(lines))
            lines = []
        if line.strip() and not hidden:
            start = start if lines else number
            lines.append(line)
        fenced ^= fence
        generated = generated and _REGION_END.match(line) is None


def sections(found: Iterable[Block]) -> Iterator[list[Block]]:
    """Group blocks by the heading above them."""
    section: list[Block] = []
    for block in found:
        if block.is_heading and section:
            yield section
            section = []
        section.append(block)
    if section:
        yield section


def _uncited(section: Sequence[Block], path: Path) -> Iterator[Finding]:
    """List the figures of a section that no linked page of evidence contains."""
    for block in section:
        pages = _evidence(block.text, path)
        for figure in figures(block.text):
            if not any(figure in figures(page) for page in pages):
                reason = "not in the linked page" if pages else "no source"
                yield Finding(block.line, figure, reason)


def _evidence(text: str, path: Path) -> list[str]:
    """Return the texts of the pages of evidence that a text links to."""
    targets = [(path.parent / target).resolve() for target in _LINK.findall(text)]
    return [target.read_text(encoding="utf-8") for target in targets if _is_evidence(target)]


def _is_evidence(target: Path) -> bool:
    """Return whether a file is one of the pages that a figure may cite."""
    inside = target.is_relative_to(ROOT) and target.is_file()
    return inside and target.relative_to(ROOT).as_posix().startswith(EVIDENCE)


if __name__ == "__main__":
    sys.exit(main())
