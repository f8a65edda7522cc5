"""Check the English of docstrings and documents: `python -m tests.tools.prose [PATH ...]`.

Reports sentences that open with a headless clause ("Who has no token ...", "Where the disk is full
...") and sentences of more than 40 words. Exit status 1 if there are any. Questions and headings
may open with such a word. Code blocks, tables and generated pages are not checked.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = (
    "protocol",
    "games",
    "search",
    "training",
    "server",
    "bots",
    "arena",
    "clients",
    "kibitz",
    "benchmarks",
    "docs",
    "tests",
)
GENERATED: Final = {
    "docs/strength.md",
    "docs/experiments.md",
    "docs/reference/house-bots.md",
    "docs/reference/messages.md",
    "docs/reference/records.md",
}
MAX_WORDS: Final = 40
_HEADLESS: Final = re.compile(
    r"(Who(?:ever|se|m)?|What(?:ever)?|Where(?:ver)?|Of (?:those|these|what|whom)|That which)\s"
)
_END: Final = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[])")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_SKIPPED: Final = re.compile(r"^(\||#|<|!\[|    |>>>)")
_BULLET: Final = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


@dataclass(frozen=True)
class Finding:
    """A sentence to rewrite."""

    path: Path
    line: int
    reason: str
    sentence: str


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, help="default: the whole project")
    parser.add_argument("--count", action="store_true", help="print only the number per folder")
    options = parser.parse_args(arguments)
    findings = [finding for path in files(options.paths) for finding in check(path)]
    if options.count:
        folders = Counter(finding.path.relative_to(ROOT).parts[0] for finding in findings)
        for folder, count in folders.most_common():
            print(f"{count:5} {folder}")
    else:
        for finding in findings:
            place = f"{finding.path.relative_to(ROOT)}:{finding.line}"
            print(f"{place}: {finding.reason}: {finding.sentence}")
    print(f"{len(findings)} sentences to rewrite", file=sys.stderr)
    return 1 if findings else 0


def files(paths: Iterable[Path]) -> list[Path]:
    """Return the sources and documents below the given paths, or of the whole project."""
    roots = [path.resolve() for path in paths] or [
        *(ROOT / folder for folder in SOURCES),
        *ROOT.glob("*.md"),
    ]
    found = [
        path
        for root in roots
        for path in ([root] if root.is_file() else sorted(root.rglob("*")))
        if path.suffix in {".py", ".md"} and "node_modules" not in path.parts
    ]
    return [path for path in found if path.relative_to(ROOT).as_posix() not in GENERATED]


def check(path: Path) -> Iterator[Finding]:
    """List the sentences of a file that need rewriting."""
    text = path.read_text(encoding="utf-8")
    paragraphs = docstrings(text) if path.suffix == ".py" else markdown(text)
    for line, paragraph in paragraphs:
        for sentence in sentences(paragraph):
            reason = problem(sentence)
            if reason is not None:
                yield Finding(path, line, reason, sentence)


def problem(sentence: str) -> str | None:
    """Return the problem of a sentence, None if there is none."""
    if _HEADLESS.match(sentence) and not sentence.endswith("?"):
        return "no subject"
    words = len(sentence.split())
    return f"{words} words" if words > MAX_WORDS else None


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph of prose into sentences."""
    return [part for part in _END.split(" ".join(paragraph.split())) if part]


def docstrings(source: str) -> Iterator[tuple[int, str]]:
    """List the paragraphs of all docstrings, including attributes', with their line numbers."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", [])
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    for offset, paragraph in paragraphs(_dedented(text)):
                        yield statement.lineno + offset, paragraph


def _dedented(text: str) -> str:
    first, _, rest = text.partition("\n")
    lines = rest.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join([first, *(line[indent:] for line in lines)])


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """List the paragraphs of a document with their line numbers."""
    for offset, paragraph in paragraphs(text):
        yield offset + 1, paragraph


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """List runs of prose lines, each with the offset of its first line."""
    start, lines, fenced = 0, list[str](), False
    for offset, line in enumerate([*text.split("\n"), ""]):
        fence = _FENCE.match(line) is not None
        prose = bool(line.strip()) and not (fenced or fence or _SKIPPED.match(line))
        if lines and (not prose or _BULLET.match(line)):
            yield start, " ".join(lines)
            lines = []
        if prose:
            start = start if lines else offset
            lines.append(_BULLET.sub("", line))
        fenced ^= fence


if __name__ == "__main__":
    sys.exit(main())
