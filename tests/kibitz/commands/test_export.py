from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kibitz.cli import kibitz

IMAGES = Path(__file__).parents[3] / "docs" / "images"
RECORD = IMAGES / "number-merge.jsonl"


def export(*words: str) -> Result:
    return CliRunner().invoke(kibitz, ["record", "export", str(RECORD), *words])


def test_an_svg_is_written_or_printed(tmp_path: Path) -> None:
    path = tmp_path / "merge.SVG"
    assert export("--out", str(path), "--ply", "5").exit_code == 0
    assert path.read_text(encoding="utf-8").startswith("<svg ")
    assert export("--out", "-", "--ply", "5").output.rstrip() == path.read_text("utf-8").rstrip()


def test_a_page_is_written(tmp_path: Path) -> None:
    path = tmp_path / "merge.html"
    assert export("--out", str(path), "--ply", "3", "--seat", "1").exit_code == 0
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '"ply":3' in page


def test_a_page_of_a_ply_that_is_not_there_is_refused(tmp_path: Path) -> None:
    done = export("--out", str(tmp_path / "merge.html"), "--ply", "999")
    assert done.exit_code == 1
    assert "expected a ply from 0 to" in done.output
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("name", ["merge.jpg", "merge", "merge.svg.txt"])
def test_another_kind_of_picture_is_refused_and_nothing_is_written(
    name: str, tmp_path: Path
) -> None:
    done = export("--out", str(tmp_path / name))
    assert done.exit_code == 2
    assert (
        f"expected a file name that ends with one of .svg, .png, .gif, .html, not '{name}'"
        in done.output
    )
    assert [*tmp_path.iterdir()] == []


def test_without_the_libraries_it_says_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    done = export("--out", str(tmp_path / "merge.png"))
    assert done.exit_code == 1
    assert "pip install 'kibitz[pictures]'" in done.output
    assert [*tmp_path.iterdir()] == []


def test_a_png_has_the_size_of_the_svg(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "merge.png"
    assert export("--out", str(path)).exit_code == 0
    drawn = image.open(io.BytesIO(path.read_bytes()))
    svg = export("--out", "-").output
    assert drawn.format == "PNG"
    assert f'viewBox="0 0 {drawn.width} {drawn.height}' in svg


def test_a_gif_has_a_picture_for_each_ply_up_to_the_one_that_is_named(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    image = pytest.importorskip("PIL.Image")
    path = tmp_path / "merge.gif"
    assert export("--out", str(path), "--ply", "3").exit_code == 0
    drawn = image.open(io.BytesIO(path.read_bytes()))
    assert (drawn.format, drawn.n_frames) == ("GIF", 4)
