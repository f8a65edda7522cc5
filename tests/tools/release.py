"""Lists what the owner must fill in before a release: `python -m tests.tools.release`.

Each of these places is marked with `MARK`, which its owner removes. The exit status is 1 while a
mark is left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
MARK: Final = "UNSET: "
PLACES: Final = ("SECURITY.md", "pyproject.toml", "mkdocs.yml")
"""The files with such a place, each with one."""


def unset(root: Path = ROOT) -> Iterator[str]:
    """Yield the file, the line number and the text of each mark."""
    for name in PLACES:
        lines = (root / name).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            _, mark, text = line.partition(MARK)
            if mark:
                yield f"{name}:{number}: {text}"


def main() -> int:
    """Print the marks; return the exit status."""
    left = [*unset()]
    for line in left:
        sys.stderr.write(f"{line}\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
