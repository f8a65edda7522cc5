"""YAML text as plain values, with the line that every value begins on.

Scalars are read as YAML 1.2 does: ``no`` and ``on`` are words, ``5:00`` is a text and not 300,
and a date is a text. A key that comes twice is refused; PyYAML alone would take the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

Path: TypeAlias = tuple[str | int, ...]
"""The place of a value: keys, and positions in lists counted from 0."""

MAX_VALUES: Final = 100_000
"""A file with more values, aliases counted as often as they are used, is refused."""


class _Loader(yaml.SafeLoader):
    """Resolves scalars as YAML 1.2's core schema does."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _tag, _form, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), _first
    )


class DocumentError(ValueError):
    """Text that is not YAML as it is wanted here; `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass
class Document:
    """A YAML text: its value, and the line of every path in it."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Document:
        """Read `text`; raise `DocumentError` if it is not YAML, or says a key twice."""
        document = cls()
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is not None:
                document.value = document._value(loader, node, (), ())
        except yaml.MarkedYAMLError as error:
            raise DocumentError(_line_of(error), _message_of(error)) from None
        except yaml.YAMLError as error:
            raise DocumentError(1, f"expected YAML: {error}") from None
        finally:
            loader.dispose()
        return document

    def _value(
        self, loader: _Loader, node: yaml.Node, path: Path, above: Sequence[yaml.Node]
    ) -> Any:
        """Return the value of `node`, and note where it and all in it begin."""
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(self.lines) > MAX_VALUES:
            raise DocumentError(line, f"expected at most {MAX_VALUES} values")
        if any(node is outer for outer in above):
            raise DocumentError(line, "an alias stands for something that it is a part of")
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(loader, node, path, (*above, node)))
        if isinstance(node, yaml.SequenceNode):
            inside = (*above, node)
            return [
                self._value(loader, item, (*path, i), inside) for i, item in enumerate(node.value)
            ]
        return _scalar(loader, node)

    def _pairs(
        self, loader: _Loader, node: yaml.MappingNode, path: Path, above: Sequence[yaml.Node]
    ) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise DocumentError(line, "expected a word as a key")
            key = str(key_node.value)
            if key in seen:
                raise DocumentError(
                    line, f"the key {key!r} is there twice, first in line {seen[key]}"
                )
            seen[key] = self.lines[(*path, key)] = line
            yield key, self._value(loader, value_node, (*path, key), above)


def _scalar(loader: _Loader, node: yaml.Node) -> Any:
    try:
        return loader.construct_object(node)
    except ValueError as error:
        raise DocumentError(node.start_mark.line + 1, f"expected a value: {error}") from None


def _line_of(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _message_of(error: yaml.MarkedYAMLError) -> str:
    return ": ".join(part for part in ("expected YAML", error.context, error.problem) if part)
