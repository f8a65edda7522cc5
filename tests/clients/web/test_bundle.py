"""Modules put into one script."""

from __future__ import annotations

import pytest

from kibitz_clients.render.html import ENTRY_MODULE
from kibitz_clients.web import site
from kibitz_clients.web.bundle import BundleError, bundle
from tests.clients.web.node import needs_node, run_node

CHAIN = {
    "a.js": b'import { b, last as c } from "./deep/b.js";\nconsole.log(b() + c);\n',
    "deep/b.js": b'import { last } from "../c.js";\n'
    b"export function b() {\n  return last * 10;\n}\nexport { last };\n",
    "c.js": b"export const last = 4;\n",
}


@pytest.mark.e2e
@needs_node
def test_a_bundle_does_what_its_modules_do() -> None:
    done = run_node("-e", bundle(CHAIN, "a.js"))
    assert (done.stdout, done.stderr) == ("44\n", "")


def test_a_module_that_is_imported_twice_is_there_once() -> None:
    files = {**CHAIN, "d.js": b'import { last } from "./c.js";\nimport { b } from "./deep/b.js";\n'}
    assert bundle(files, "d.js").count("const last = 4") == 1


def test_modules_that_import_each_other_are_refused() -> None:
    files = {"a.js": b'import { b } from "./b.js";\n', "b.js": b'import { a } from "./a.js";\n'}
    with pytest.raises(BundleError, match=r"a\.js: it imports itself"):
        bundle(files, "a.js")


def test_a_module_that_is_not_there_is_named_with_who_wants_it() -> None:
    with pytest.raises(BundleError, match=r"a\.js: there is no module b\.js"):
        bundle({"a.js": b'import { b } from "./b.js";\n'}, "a.js")


@pytest.mark.parametrize(
    "line", ["export default 1;", 'import * as b from "./b.js";', 'export * from "./b.js";']
)
def test_forms_that_are_not_read_are_refused(line: str) -> None:
    with pytest.raises(BundleError, match="expected a plain import or export"):
        bundle({"a.js": f"{line}\n".encode(), "b.js": b""}, "a.js")


def test_the_viewer_is_one_script_without_imports() -> None:
    script = bundle(site.read_files(site.STATIC_FILES), ENTRY_MODULE)
    assert "\nimport " not in script
    assert "\nexport " not in script
    assert "</script" not in script
