"""The browser client's types: made from the protocol's models, and checked by TypeScript."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from docs.generate import web_types

CHECKS = Path(__file__).parents[2] / "tools" / "web"
TSC = CHECKS / "node_modules" / "typescript" / "bin" / "tsc"


def test_the_generated_files_are_current() -> None:
    for path, text in web_types.files().items():
        assert path.read_text(encoding="utf-8") == text, "run `make schema`"


def test_a_field_that_may_be_absent_is_optional_and_never_null() -> None:
    schema = {
        "description": "A thing.",
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "what it is */ called"},
            "seat": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "many": {
                "items": {"anyOf": [{"$ref": "#/$defs/X"}, {"type": "null"}]},
                "type": "array",
            },
            "kind": {"enum": ["a", "b"], "type": "string"},
            "free": {"additionalProperties": {"type": "number"}, "type": "object"},
        },
        "required": ["name", "many"],
    }
    assert web_types.types({"Thing": schema}).splitlines()[3:-1] == [
        "/** A thing. */",
        "export type Thing = {",
        "  /** what it is * / called */",
        "  name: string;",
        "  seat?: number;",
        "  many: (X | null)[];",
        '  kind?: "a" | "b";',
        "  free?: { [name: string]: number };",
        "};",
    ]


@pytest.mark.slow  # `make lint` runs the same command
@pytest.mark.skipif(not TSC.is_file(), reason="typescript is not installed (`make web-check`)")
def test_the_modules_have_no_type_errors() -> None:
    command = ["node", str(TSC), "--project", str(CHECKS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
