"""The served files of the browser client."""

from __future__ import annotations

import gzip
import re
from pathlib import PurePosixPath
from urllib.parse import urljoin, urlsplit

import pytest

from kibitz_clients.web.site import (
    SHELL,
    STATIC_FILES,
    WebSite,
    imported_modules,
    joined_modules,
    read_files,
    web_site,
)
from kibitz_server.net.site import SECURITY_HEADERS, Site

FILES = {
    "app.html": b'<link href="%STATIC%/app.css">\n%PRELOADS%',
    "app.css": b"a{}",
    "main.js": b'import { a } from "./wire/a.js";\nimport("./pages/late.js");\n',
    "wire/a.js": b'// import { x } from "./no.js";\nexport { b } from "../b.js";\n'
    b'import {\n  c,\n} from "./c.js";\n',
    "wire/c.js": b'import "../main.js";\n',
    "b.js": b"export const b = 1;\n",
    "pages/late.js": b"",
}
FIRST_LOAD_BYTES = 200_000


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/host",
        "/lobby/L7",
        "/match/m-1_a",
        "/rules/line-nim",
        "/wall",
        "/event",
        "/ladder",
        "/sign-in",
    ],
)
def test_the_paths_of_the_application_have_the_shell(path: str) -> None:
    file = WebSite(FILES).file(path)
    assert file is not None
    assert (file.content_type, file.immutable) == ("text/html; charset=utf-8", False)


@pytest.mark.parametrize(
    "path",
    ["/nowhere", "/lobby/", "/lobby/a/b", "/match/../x", "/static/main.js", "/app.html", "//", ""],
)
def test_nothing_else_is_there(path: str) -> None:
    assert WebSite(FILES).file(path) is None


def test_files_are_under_the_digest_of_all_of_them() -> None:
    site, other = WebSite(FILES), WebSite(FILES | {"b.js": b"export const b = 2;\n"})
    assert site.digest == WebSite(dict(reversed(FILES.items()))).digest != other.digest
    file = site.file(f"/static/{site.digest}/wire/a.js")
    assert file is not None
    assert (file.body, file.immutable) == (FILES["wire/a.js"], True)
    assert other.file(f"/static/{site.digest}/wire/a.js") is None
    assert site.file(f"/static/{site.digest}/{SHELL}") is None


@pytest.mark.parametrize(
    ("path", "way_up"),
    [("/", ""), ("/host", ""), ("/sign-in", ""), ("/lobby/L7", "../"), ("/match/m1", "../")],
)
def test_the_shell_names_the_files_and_what_loads_first(path: str, way_up: str) -> None:
    site = WebSite(FILES)
    shell = site.file(path)
    assert shell is not None
    text = shell.body.decode()
    assert f'href="{way_up}static/{site.digest}/app.css"' in text
    assert "%" not in text
    hinted = re.findall(rf'modulepreload" href="{way_up}static/{site.digest}/([^"]+)"', text)
    assert hinted == imported_modules(FILES) == ["b.js", "wire/c.js", "wire/a.js", "main.js"]


@pytest.mark.parametrize("prefix", ["", "/kibitz", "/a/b"])
@pytest.mark.parametrize("path", ["/", "/wall", "/event", "/ladder", "/lobby/L7", "/match/m1"])
def test_a_page_finds_its_files_whatever_path_a_proxy_puts_before_it(
    path: str, prefix: str
) -> None:
    site = WebSite(FILES)
    shell = site.file(path)
    assert shell is not None
    for named in re.findall(r'href="([^"]+)"', shell.body.decode()):
        whole = urlsplit(urljoin(f"https://example.org{prefix}{path}", named)).path
        assert whole.startswith(f"{prefix}/static/")
        assert site.file(whole.removeprefix(prefix)) is not None


# --- the files themselves ----------------------------------------------------------------------


def test_it_is_what_the_server_serves() -> None:
    site: Site = web_site().file
    assert site("/") is not None


def test_the_shell_has_no_inline_script_or_style() -> None:
    shell = (STATIC_FILES / SHELL).read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon[a-z]+=|javascript:", shell)
    assert "'unsafe" not in SECURITY_HEADERS["Content-Security-Policy"]


def test_nothing_comes_from_elsewhere_and_no_markup_is_made_of_text() -> None:
    named = re.compile(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}(?=[/\"'`])")
    for path, body in read_files(STATIC_FILES).items():
        text = re.sub(r"http://www\.w3\.org/[^\"]*", "", body.decode())
        assert not named.search(text), path
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function", text
        ), path
        assert not re.search(r'setAttribute\(\s*"style"', text), path


def test_only_one_module_says_where_paths_of_the_application_are() -> None:
    # A proxy may serve them below a path, so that "/host" becomes "/kibitz/host".
    absolute = re.compile(
        r"""(?:href[:=]\s*|\.href\s*=\s*|fetch\(|url:\s*)["`]/|\$\{location\.(?:host|origin)\}"""
        r"""|location\.pathname\s*[!=]==?\s*["`]|\(location\.pathname\)"""
    )
    found = {
        f"{path}: {line.strip()}"
        for path, body in read_files(STATIC_FILES).items()
        if path != "parts/address.js"
        for line in body.decode().splitlines()
        if absolute.search(line) and not line.lstrip().startswith(("*", "/**", "//"))
    }
    assert found == set()


def test_every_module_that_is_imported_is_there_and_says_what_it_is() -> None:
    files = read_files(STATIC_FILES)
    for path, body in files.items():
        if PurePosixPath(path).suffix == ".js":
            assert set(imported_modules(files, path)) <= files.keys()
            assert body.startswith(b"//"), path


def test_modules_are_joined_as_one_without_imports_or_exports() -> None:
    files = {
        "a.js": b'import {\n  b,\n} from "./d/b.js";\nimport { last } from "./c.js";\n\nb(last);',
        "d/b.js": b'import { last } from "../c.js";\nexport function b() {}\n',
        "c.js": b"export const last = 4;\nexport async function c() {}\n",
    }
    assert joined_modules(files, "a.js").split("\n") == [
        *("const last = 4;", "async function c() {}", ""),
        *("function b() {}", "", "", "b(last);"),
    ]


def loaded_by(page: str, files: dict[str, bytes]) -> set[str]:
    """Return the files that a browser loads for a page with boards, also deferred ones."""
    styles = {path for path in files if path.encode() in files[SHELL] and path.endswith(".css")}
    modules = {page, "board/board.js", *imported_modules(files)}
    for each in (page, "board/board.js"):
        modules |= set(imported_modules(files, each))
    return {SHELL, "icon.svg", *styles, *modules}


def test_the_first_load_of_the_hall_with_boards_is_small_even_decoded() -> None:
    files = dict(read_files(STATIC_FILES))
    loaded = loaded_by("pages/hall.js", files)
    assert {"app.css", "board/board.css", "parts/boards.js", "board/thumbnail.js"} <= loaded
    assert sum(len(files[name]) for name in loaded) <= FIRST_LOAD_BYTES


@pytest.mark.parametrize("page", ["pages/hall.js", "pages/wall.js"])
def test_the_first_load_is_small_as_it_is_sent(page: str) -> None:
    files = dict(read_files(STATIC_FILES))
    loaded = loaded_by(page, files) | ({"wall.css"} if "wall" in page else set())
    assert sum(len(gzip.compress(files[name])) for name in loaded) <= FIRST_LOAD_BYTES * 2 / 5
