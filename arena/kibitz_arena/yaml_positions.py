"""Parse YAML to plain values with the line number of every value.

Scalars follow YAML 1.2: ``no`` and ``on`` are strings, ``5:00`` is a string rather than 300, and
dates are strings. Duplicate keys are errors; PyYAML by itself would use the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

Path: TypeAlias = tuple[str | int, ...]
"""The path of a value: keys, and list indices from 0."""

MAX_VALUES: Final = 100_000
"""The maximum number of values in a file, counting each use of an alias."""


class _Loader(yaml.SafeLoader):
    """Resolves scalars by YAML 1.2's core schema."""

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
    """Invalid or unsupported YAML; `line` counts from 1."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


@dataclass
class Document:
    """A YAML document: its value, and the line of every path."""

    value: Any = None
    lines: dict[Path, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> Document:
        """Parse `text`; raise `DocumentError` if it is not valid YAML or has duplicate keys."""
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
        """Return the value of `node`, and store the lines of the value and its parts."""
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(self.lines) > MAX_VALUES:
            raise DocumentError(line, f"expected at most {MAX_VALUES} values")
        if any(node is outer for outer in above):
            raise DocumentError(line, "an alias refers to a value that contains it")
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
                raise DocumentError(line, "expected a plain string as a key")
            key = str(key_node.value)
            if key in seen:
                raise DocumentError(line, f"duplicate key {key!r}, first on line {seen[key]}")
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
