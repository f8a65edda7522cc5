"""The tool that isolates bots: selecting a working one, and the error if there is none."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kibitz.process.isolation import backends, uids
from kibitz.process.isolation.backends import BackendError, Isolation, Tool, choose, unusable


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user can enter."""
    path = Path(tempfile.mkdtemp(prefix="kibitz-public-")).resolve()
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def test_nothing_is_tried_where_nothing_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "unusable", lambda *given: pytest.fail("tried"))
    assert choose("none", [], []).sentence == (
        "entrants are trusted, and not isolated from each other or from this machine"
    )


def test_the_best_that_works_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    flaws: dict[Tool, str | None] = {"bwrap": "no user namespaces", "setpriv": None}
    monkeypatch.setattr(backends, "unusable", lambda tool, seen, hidden: flaws[tool])
    assert choose("auto", [], []) == Isolation("setpriv", "bwrap: no user namespaces", [])
    flaws["bwrap"] = None
    assert choose("auto", [], []) == Isolation("bwrap", "", [])


def test_where_none_works_it_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    found = choose("auto", [], [])
    assert found.tool == "none"
    assert found.sentence.endswith("(bwrap: not installed; setpriv: not installed)")
    assert "\n" not in found.sentence


def test_what_was_asked_for_and_does_not_work_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BackendError, match="--jail bwrap does not work here: not installed"):
        choose("bwrap", [], [])


@pytest.mark.e2e
def test_a_program_that_is_there_and_does_nothing_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert unusable("bwrap", [], []) == "No permissions to create new namespace"


def test_setpriv_is_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "may_change", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert unusable("setpriv", [], []) == "only root can give each bot its own user"


def working(tool: Tool) -> None:
    if (why := unusable(tool, [], [])) is not None:
        pytest.skip(f"{tool}: {why}")


@pytest.mark.e2e
@pytest.mark.parametrize("tool", ["bwrap", "setpriv"])
def test_bots_that_cannot_be_read_are_found_before_the_event(tool: Tool, public: Path) -> None:
    working(tool)
    bot = public / "bots"
    bot.mkdir()
    assert unusable(tool, [bot], []) is None
    if uids.may_change():
        bot.chmod(0o700)
        assert unusable(tool, [bot], []) == f"{bot} cannot be read by another user"


@pytest.mark.e2e
def test_what_others_may_read_is_not_hidden_by_a_user_alone(public: Path) -> None:
    working("setpriv")
    (public / "token").write_text("secret")
    found = f"{public / 'token'} can be read by the bots"
    assert unusable("setpriv", [], [public / "token"]) == found
    (public / "token").chmod(0o600)
    assert unusable("setpriv", [], [public / "token"]) is None


@pytest.mark.e2e
def test_bubblewrap_hides_what_is_in_a_directory_that_is_seen(public: Path) -> None:
    working("bwrap")
    (public / "cup.arena").mkdir()
    for name in ("cup.arena/secret", "ada.token"):
        (public / name).write_text("secret")
    assert unusable("bwrap", [public], [public / "cup.arena", public / "ada.token"]) is None


def test_what_is_only_covered_never_hides_a_bot(public: Path) -> None:
    found = choose("none", [public / "bots"], [], [public, public / "records"])
    assert found.hidden == [public / "records"]


def test_an_open_network_is_said() -> None:
    here = Isolation("bwrap")
    assert here.sentence.endswith("and can reach only the server over the network")
    assert "network is open" in replace(here, elsewhere=True).sentence
