"""Language-model bots as run by users, with an endpoint on the loopback interface."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import httpx
import pytest

from kibitz_protocol.wire.recordfile import read_record
from tests.tools.chat_endpoint import ChatScript, chat_server, first_legal
from tests.tools.command import Kibitz

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "prompts.yaml"
KEY = "sk-hunter2"


def with_model(kibitz: Kibitz, url: str) -> Kibitz:
    said = {"KIBITZ_LLM_URL": url, "KIBITZ_LLM_KEY": KEY}
    return dataclasses.replace(kibitz, variables={**kibitz.variables, **said})


def records(kibitz: Kibitz) -> list[Path]:
    """Return the records of a command: two, because the seat order matters in this game."""
    found = sorted((kibitz.directory / "records").glob("*.jsonl"))
    assert len(found) == 2
    return found


def test_a_model_plays_a_match_and_its_record_has_its_words_and_no_key(kibitz: Kibitz) -> None:
    script = ChatScript(first_legal)
    with chat_server(script) as url:
        words = ["play", "line-nim:free=12", "line-nim/llm:model=small", "line-nim/random:seed=1"]
        done = with_model(kibitz, url).run(*words)
    assert done.returncode == 0, done.stderr
    assert {each["authorization"] for each in script.headers} == {f"Bearer {KEY}"}
    for path in records(kibitz):
        assert KEY not in path.read_text() + done.stdout + done.stderr
        engines = read_record(path).setup.engines or []
        [asked] = [each for each in engines if each is not None and each.name == "line-nim/llm"]
        assert asked.parameters["model"] == "small"
        assert "I begin with the first one." in path.read_text()


@pytest.mark.slow
def test_the_example_compares_prompts(kibitz: Kibitz) -> None:
    # The script takes its moves from the prompt, so all prompts must list them.
    text = EXAMPLE.read_text().replace("blocks: 20", "blocks: 1")
    text = text.replace("prompt=plain", "prompt=legal")
    text = text.partition("claims:")[0]
    lines = [line for line in text.splitlines() if "reasons" not in line and "greedy" not in line]
    (kibitz.directory / "prompts.yaml").write_text("\n".join(lines))
    with chat_server(ChatScript(first_legal)) as url:
        done = with_model(kibitz, url).run("arena", "prompts.yaml", "--dir", "out", "-q")
    assert done.returncode == 0, done.stderr
    results = json.loads((kibitz.directory / "out" / "results.json").read_text())
    assert {line["name"] for line in results["standings"]} == {"plain", "legal", "random"}
    assert results["finished"]
    assert all(game["termination"] == "normal" for game in results["games"])


@pytest.mark.slow
def test_a_model_that_is_not_there_is_replaced_and_said(kibitz: Kibitz) -> None:
    words = ["play", "line-nim:free=12", "line-nim/llm:model=small,time=0.2", "line-nim/random"]
    done = with_model(kibitz, "http://127.0.0.1:9/v1").run(*words)
    assert done.returncode == 0, done.stderr
    for path in records(kibitz):
        assert "random plays: no answer in 0.2 s: the connection failed" in path.read_text()


def test_a_key_that_is_refused_is_asked_with_once(kibitz: Kibitz) -> None:
    script = ChatScript(httpx.Response(401, text="no"))
    with chat_server(script) as url:
        words = ["play", "line-nim:free=12", "line-nim/llm:model=small", "line-nim/random:seed=1"]
        done = with_model(kibitz, url).run(*words)
    assert done.returncode == 0, done.stderr
    assert len(script.asked) == len(records(kibitz))
