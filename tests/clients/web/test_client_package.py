"""The package for npm: the pages' own modules, with types that TypeScript accepts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = ROOT / "clients" / "typescript"
TSC = ROOT / "tests" / "tools" / "web" / "node_modules" / "typescript" / "bin" / "tsc"
WIRE = ROOT / "clients" / "kibitz_clients" / "web" / "static" / "wire"
_IMPORT = re.compile(r'(?:from|import)\s*\(?"(\.[^"]+)"')


def test_the_modules_of_the_package_need_no_others() -> None:
    named = [name for path in WIRE.glob("*.js") for name in _IMPORT.findall(path.read_text())]
    assert named
    assert not [name for name in named if not re.fullmatch(r"\./\w+\.js", name)]


def test_the_package_has_the_license_of_the_project() -> None:
    package = json.loads((SOURCES / "package.json").read_text())
    assert (package["name"], package["license"]) == ("kibitz-client", "MIT")
    assert "dependencies" not in package


def run(directory: Path, *words: str) -> None:
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.e2e
@pytest.mark.skipif(not TSC.is_file(), reason="typescript is not installed (`make web-check`)")
@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_the_example_of_its_page_has_the_types_that_it_says(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "kibitz-client"
    run(ROOT, "make", "client-package", f"CLIENT={package}")
    (example,) = re.findall(r"^```ts\n(.*?)^```", (SOURCES / "README.md").read_text(), re.M | re.S)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "good.ts").write_text(example)
    strict = ["--strict", "--target", "es2023", "--module", "nodenext", "--noEmit"]
    run(tmp_path, "node", str(TSC), *strict, "good.ts")
    wrong = example.replace("const welcome: Welcome =", "const welcome: number =")
    assert wrong != example
    (tmp_path / "bad.ts").write_text(wrong)
    with pytest.raises(AssertionError, match=r"bad\.ts"):
        run(tmp_path, "node", str(TSC), *strict, "bad.ts")
    run(tmp_path, "node", "--input-type=module", "-e", 'import "kibitz-client";')
