"""Weights files: valid files are read back, and invalid files are refused with a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kibitz_bots.catalog.from_file import find_trained
from kibitz_bots.spec import SpecError
from kibitz_games.core import registry
from kibitz_search import weights
from kibitz_search.chinese_checkers import evaluation, weights_file
from kibitz_search.chinese_checkers.evaluation import distances
from kibitz_search.chinese_checkers.hole_arrays import KIND
from kibitz_search.weights import WeightsError, WeightsFile

SHAPE: dict[str, Any] = {"board": "star", "size": 4, "goal": 3, "seats": 2}


def written(path: Path, **changes: Any) -> Path:
    """Write a valid file with some fields changed after hashing."""
    file = WeightsFile(
        game="chinese-checkers", kind=KIND, shape=SHAPE, weights=distances("hand").tolist()
    )
    content = json.loads(weights.text_of(file)) | changes
    if "hash" not in changes and "schema" not in changes:
        content["hash"] = ""
    path.write_text(json.dumps(content))
    return path


def test_the_hand_made_weights_come_back_turned_for_every_goal(tmp_path: Path) -> None:
    game = registry.get("chinese-checkers")
    state = game.start(game.Options(), 6, {})
    file = weights_file.read(written(tmp_path / "best.json"))
    made, expected = weights_file.evaluation(file)(state), evaluation.hand(state)
    np.testing.assert_allclose(
        made["weights"][:, :121], expected["weights"][:, :121], atol=2 / 1024
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"game": "tanks"}, "expected the game chinese-checkers, not tanks"),
        (
            {"kind": "network"},
            "expected the kind hole-distances or hole-distances-and-priors, not network",
        ),
        ({"shape": SHAPE | {"size": 3}}, "expected the size 4, not 3"),
        ({"shape": SHAPE | {"board": "rhombus"}}, "expected the board star, not rhombus"),
        ({"weights": [1.0] * 81}, "expected 121 weights, one per hole of the star, not 81"),
        ({"weights": [1e9] * 121}, "expected weights from -1e.06 to 1e.06"),
        ({"weights": [1.0] * 120 + [float("nan")]}, "weights.120: Input should be a finite number"),
        ({"weights": [float("-inf")]}, r"weights\.0: Input should be a finite number"),
        ({"weights": []}, "weights: List should have at least 1 item"),
        ({"weights": [[1.0]]}, r"weights\.0: Input should be a valid number"),
        ({"shape": []}, "shape: Input should be an object"),
        ({"weights": ["x"]}, r"weights\.0: Input should be a valid number"),
        ({"weights": [1.0] * 121, "hash": "0"}, r"weights/1\): the hash of its weights is"),
        ({"schema": "kibitz-weights/9"}, "schema: Input should be 'kibitz-weights/1'"),
        ({"more": 1}, "more: Extra inputs are not permitted"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = written(tmp_path / "best.json", **changes)
    with pytest.raises(WeightsError, match=sentence) as refusal:
        weights_file.read(path)
    assert str(refusal.value).startswith(f"{path}: ")
    with pytest.raises(SpecError, match=sentence):
        find_trained(f"chinese-checkers/greedy-weights:file={path}")


@pytest.mark.parametrize("spec", ["chinese-checkers/greedy-weights", "tanks/ann-weights"])
def test_whatever_is_named_is_no_trap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    """Pipes and devices never end, and large files fill the memory."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(b"[" * 100)
    monkeypatch.setattr(weights, "LARGEST_BYTES", 99)
    for name, sentence in (
        ("pipe", "not a pipe or device"),
        ("/dev/zero", "not a pipe or device"),
        (".", r"\(Is a directory\)"),
        ("large", "at most 0 MiB"),
        ("none", r"\(No such file or directory\)"),
        ("\0", r"\(embedded null byte\)"),
        ("n" * 300, r"\(File name too long\)"),
    ):
        path = tmp_path / name
        with pytest.raises(SpecError, match=f"expected a weights file.*{sentence}") as refusal:
            find_trained(f"{spec}:file={path}")
        assert str(refusal.value).startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\0", b"nan"])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    with pytest.raises(WeightsError, match=r"bad\.json: expected a weights file"):
        weights_file.read(tmp_path / "bad.json")


def test_a_bot_of_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "best.json")
    make = find_trained(f"chinese-checkers/greedy-weights:seed=3,file={path}")
    assert make is not None
    assert make().games == ("chinese-checkers",)
    assert find_trained("chinese-checkers/greedy-hand") is None
    with pytest.raises(SpecError, match="expected a weights file"):
        find_trained("chinese-checkers/greedy-weights")
    with pytest.raises(SpecError, match="no parameter 'depth'; it has file, seed"):
        find_trained(f"chinese-checkers/greedy-weights:depth=3,file={path}")
    with pytest.raises(SpecError, match="No such file"):
        find_trained("chinese-checkers/greedy-weights:file=nowhere.json")


def test_weights_for_the_star_do_not_play_elsewhere(tmp_path: Path) -> None:
    path = written(tmp_path / "best.json")
    made = weights_file.evaluation(weights_file.read(path), path)
    game = registry.get("chinese-checkers")
    with pytest.raises(
        ValueError, match=r"best\.json: the weights are for the usual star, not for star 3"
    ):
        made(game.start(game.Options.model_validate({"size": 3}), 2, {}))
