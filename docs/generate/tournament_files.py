"""Generate the reference of tournament files from the models and the docstrings of their fields."""

from __future__ import annotations

import ast
import inspect

from pydantic import BaseModel

from docs.generate import json_schema
from docs.generate.markdown import table
from kibitz_arena import tournament
from kibitz_arena.tournament import CHANGEABLE_KEYS, Tournament

HEAD = """# Tournament files

Tournament files for `kibitz arena` are YAML. [Run tournaments](../how-to/tournaments.md) explains
how to run a tournament, and [Your first tournament](../tutorial/first-tournament.md) shows one step
by step. [How ratings are computed](../explanation/ratings.md) explains claims, ratings and the
sequential test. You can write keys with hyphens or underscores. Error messages name the line, the
path and the expected value.

You may change keys marked with a star before you resume an interrupted tournament. `kibitz arena`
refuses changes to any other key, because they would make it a different tournament."""
PARTS: tuple[tuple[str, str], ...] = (
    ("Entrant", "Entrants"),
    ("GameSpec", "The game"),
    ("RandomPlies", "Random openings"),
    ("OpeningFile", "Openings from a file"),
    ("EntrantLimits", "Limits"),
    ("StopRule", "The sequential test"),
    ("RatingScale", "The scale of the ratings"),
)
"""Models of the parts of a tournament, with their titles on the page."""


class UndocumentedFieldError(LookupError):
    """A tournament field without a docstring."""


def page() -> str:
    """Return the page: the keys of a tournament, then the keys of its parts."""
    sections = [f"{HEAD}\n", "## Keys of a tournament\n", _keys(Tournament, CHANGEABLE_KEYS)]
    for name, title in PARTS:
        model: type[BaseModel] = getattr(tournament, name)
        sections += [f"## {title}\n", f"{_first_line(model)}\n", _keys(model)]
    return "\n".join(sections)


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstring of each field of a model.

    Python does not store docstrings of fields, so they are read from the source. Raises
    `UndocumentedFieldError` if one is missing.
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
    return table(("key", "value", "default", "meaning"), rows)


def _link(name: str) -> str:
    """Return a link to the section of a part."""
    title = dict(PARTS)[name]
    return f"[{title.lower()}](#{title.lower().replace(' ', '-')})"
