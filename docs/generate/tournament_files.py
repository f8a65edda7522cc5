"""The reference of tournament files, from the models that read them and fields' docstrings."""

from __future__ import annotations

import ast
import inspect

from pydantic import BaseModel

from docs.generate import json_schema
from docs.generate.markdown import table
from kibitz_arena import tournament
from kibitz_arena.tournament import CHANGEABLE_KEYS, Tournament

HEAD = """# Tournament files

A file of `kibitz arena` is YAML. [Run tournaments](../how-to/tournaments.md) says how they
are held, and [Your first tournament](../tutorial/first-tournament.md) shows one step by step. Keys
may be written with hyphens or underscores. An error in a file names the line, the path and what was
expected. [How ratings are computed](../explanation/ratings.md) explains claims,
ratings and the sequential test.

Keys marked with a star may be changed before an interrupted tournament goes on. A change of any
other key is refused, because it would be another tournament."""
PARTS: tuple[tuple[str, str], ...] = (
    ("Entrant", "Entrants"),
    ("GameSpec", "The game"),
    ("RandomPlies", "Random openings"),
    ("OpeningFile", "Openings from a file"),
    ("EntrantLimits", "Limits"),
    ("StopRule", "The sequential test"),
    ("RatingScale", "The scale of the ratings"),
)
"""The models of the parts of a tournament, and their titles on the page."""


class UndocumentedFieldError(LookupError):
    """A field of a tournament that has no docstring."""


def page() -> str:
    """Return the page: the keys of a tournament, then those of its parts."""
    sections = [f"{HEAD}\n", "## Keys of a tournament\n", _keys(Tournament, CHANGEABLE_KEYS)]
    for name, title in PARTS:
        model: type[BaseModel] = getattr(tournament, name)
        sections += [f"## {title}\n", f"{_first_line(model)}\n", _keys(model)]
    return "\n".join(sections)


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model.

    Python keeps none for fields, so they are read from the source. Raises
    `UndocumentedFieldError` where there is none.
    """
    body = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in zip(body.body, body.body[1:], strict=False)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
    missing = [name for name in model.model_fields if name not in found]
    if missing:
        raise UndocumentedFieldError(f"{model.__name__}: no docstring for {', '.join(missing)}")
    return found


def _first_line(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").partition("\n")[0]


def _keys(model: type[BaseModel], starred: frozenset[str] = frozenset()) -> str:
    """Return the table of a model's keys."""
    schema = model.model_json_schema()
    texts, required = described(model), schema.get("required", ())
    rows = []
    for name, field in schema["properties"].items():
        star = " *" if name in starred else ""
        default = "required" if name in required else json_schema.default(field)
        text = " ".join(texts[name].replace("``", "`").split())
        key = f"`{name.replace('_', '-')}`{star}"
        rows.append([key, json_schema.kind(field, _link), default, text])
    return table(("key", "value", "default", "what it says"), rows)


def _link(name: str) -> str:
    """Return a link to the section of a part."""
    title = dict(PARTS)[name]
    return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"
