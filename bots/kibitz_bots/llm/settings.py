"""The model settings in a bot's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kibitz_bots.spec import SpecError
from kibitz_protocol.wire.explain import first_problem

SHORT_NAME: Final = "llm"
"""The name of such a bot, behind that of its game."""
KEY_VARIABLE: Final = "KIBITZ_LLM_KEY"
"""The environment variable for the key of the endpoint, if it needs one."""
URL_VARIABLE: Final = "KIBITZ_LLM_URL"
"""The environment variable for the endpoint, for bots whose name has none."""
LOCAL_URL: Final = "http://127.0.0.1:11434/v1"
"""The default endpoint of local model servers."""
VARIABLES: Final = (KEY_VARIABLE, URL_VARIABLE)
PromptName = Literal["plain", "legal", "reasons"]


class Settings(BaseModel):
    """The settings of one bot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, max_length=200)
    """The model's name, as its endpoint has it."""
    url: str = Field(default_factory=lambda: os.environ.get(URL_VARIABLE, LOCAL_URL))
    """The interface's root: ``/chat/completions`` comes behind it."""
    prompt: PromptName = "legal"
    """The kind of prompt at a turn (`prompts`)."""
    time: float = Field(30.0, gt=0, le=3600)
    """The time limit for a move in seconds; with a clock, at most the planned time."""
    answer: int = Field(1024, ge=1, le=100_000)
    """Most tokens of one answer."""
    tokens: int = Field(0, ge=0)
    """Most tokens of a match, questions and answers; 0 for no limit."""
    tries: int = Field(3, ge=1, le=10)
    """How often it is asked for one move, with the reason, when it answers no legal one."""
    fallback: str = Field("random", pattern=r"^[a-z0-9-]+$")
    """The player of moves when the model fails: ``random``, ``resign``, or the short name of a
    house bot of the game, such as ``greedy``."""
    seed: int = Field(0, ge=0)
    """Of the fallback ``random``."""


def environment_of(bot: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a bot's process needs because it asks a model; none for others."""
    if bot.partition(":")[0].rpartition("/")[2] != SHORT_NAME:
        return {}
    return {name: environment[name] for name in VARIABLES if name in environment}


def read_settings(name: str, text: str) -> Settings:
    """Read what follows the colon: ``model=NAME,prompt=plain``. Raises `SpecError`."""
    values = dict[str, str]()
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key in values:
            raise SpecError(f"{name}: expected key=value once for each key, not {part!r}")
        values[key] = value
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        known = ", ".join(Settings.model_fields)
        raise SpecError(f"{name}: {first_problem(error)}; its settings are {known}") from None
