"""The language-model settings in a bot's name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kibitz_bots.spec import SpecError
from kibitz_protocol.wire.explain import first_problem

SHORT_NAME: Final = "llm"
"""The bot's name, after the game's."""
KEY_VARIABLE: Final = "KIBITZ_LLM_KEY"
"""The environment variable for the endpoint's API key."""
URL_VARIABLE: Final = "KIBITZ_LLM_URL"
"""The environment variable for the default endpoint."""
LOCAL_URL: Final = "http://127.0.0.1:11434/v1"
"""The endpoint used if neither the bot's name nor the environment sets one."""
VARIABLES: Final = (KEY_VARIABLE, URL_VARIABLE)
PromptName = Literal["plain", "legal", "reasons"]


class Settings(BaseModel):
    """The settings of one language-model bot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(min_length=1, max_length=200)
    """The model's name at the endpoint."""
    url: str = Field(default_factory=lambda: os.environ.get(URL_VARIABLE, LOCAL_URL))
    """The API's base URL, to which ``/chat/completions`` is appended."""
    prompt: PromptName = "legal"
    """The kind of turn prompt (see `prompts`)."""
    time: float = Field(30.0, gt=0, le=3600)
    """The time limit per move in seconds; with a clock, the turn's budget may be shorter."""
    answer: int = Field(1024, ge=1, le=100_000)
    """The maximum number of tokens per answer."""
    tokens: int = Field(0, ge=0)
    """The maximum number of tokens per match, requests and answers together; 0 for no limit."""
    tries: int = Field(3, ge=1, le=10)
    """The number of attempts per move; each retry tells the model what was wrong."""
    fallback: str = Field("random", pattern=r"^[a-z0-9-]+$")
    """The fallback if the model fails: ``random``, ``resign``, or the short name of one of the
    game's house bots, such as ``greedy``."""
    seed: int = Field(0, ge=0)
    """The seed of the fallback ``random``."""


def environment_of(bot: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a language-model bot's process; empty for other bots."""
    if bot.partition(":")[0].rpartition("/")[2] != SHORT_NAME:
        return {}
    return {name: environment[name] for name in VARIABLES if name in environment}


def read_settings(name: str, text: str) -> Settings:
    """Parse the settings after the colon: ``model=NAME,prompt=plain``. Raises `SpecError`."""
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
