"""Templates for `kibitz bot new` and `kibitz game new`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

import click

_HERE = Path(__file__).parent


def make_directory(directory: Path) -> None:
    """Create a new directory; refuse one that exists."""
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        raise click.ClickException(f"{directory} already exists") from None


def fill(starter: str, directory: Path, values: Mapping[str, str]) -> list[Path]:
    """Fill a starter's templates, including file names, with `values`; return the new files."""
    templates = _HERE / starter
    written = []
    for template in sorted(templates.rglob("*.tmpl")):
        name = template.relative_to(templates).with_suffix("")
        path = directory / Template(str(name)).substitute(values)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text_of(template.relative_to(_HERE), values), encoding="utf-8")
        written.append(path)
    return written


def text_of(template: Path, values: Mapping[str, str]) -> str:
    """Return the text of a template, such as ``python/bot.py.tmpl``, filled with `values`."""
    return Template((_HERE / template).read_text(encoding="utf-8")).substitute(values)
