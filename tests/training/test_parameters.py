"""Parameters as text: they round-trip, and errors name the invalid part."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field, field_validator

from kibitz_training import parameters
from kibitz_training.experiment import ParameterError, Parameters


class Every(Parameters):
    """A parameter of every kind."""

    count: int = Field(3, ge=1, le=9, description="a number")
    share: float = Field(0.5, gt=0, lt=1, description="a share")
    quick: bool = Field(False, description="a choice")
    way: Literal["left", "right"] = Field("left", description="a word")
    most: int | None = Field(None, description="a number, or none")
    long: int = Field(1, ge=1, le=1_000_000, description="a number that may be large")

    @field_validator("most")
    @classmethod
    def _check_most(cls, most: int | None) -> int | None:
        if most == 13:
            raise ValueError("expected another number")
        return most


@pytest.mark.parametrize(
    "text", ["", "count=4", "share=0.25,quick=true", "count=9,quick=true,way=right,most=5"]
)
def test_what_is_read_is_written_again(text: str) -> None:
    assert parameters.written(parameters.read(Every, text)) == text


def test_what_is_the_default_is_not_written() -> None:
    assert parameters.written(parameters.read(Every, "count=3,way=left")) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("count=0", "count: expected greater than or equal to 1, not '0'"),
        ("count=1.5", "count: expected a valid integer, "),
        ("count=", "count: expected a valid integer, "),
        ("long=abc", "long: expected a valid integer, "),
        ("share=1", "share: expected less than 1, not '1'"),
        ("share=nan", "share: expected a finite number, not 'nan'"),
        ("quick=perhaps", "quick: expected a valid boolean, "),
        ("way=up", "way: expected 'left' or 'right', not 'up'"),
        ("most=x", "most: expected a valid integer, "),
        ("most=13", "most: expected another number"),
        (
            "cuont=3",
            "unknown parameter 'cuont'; the parameters are count, share, quick, way, most, long",
        ),
        ("=3", "unknown parameter ''"),
        ("count", "count: expected count=value, not 'count'"),
        ("count=1,count=2", "count: given twice"),
    ],
)
def test_what_cannot_be_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        parameters.read(Every, text)
    assert str(refusal.value).startswith(sentence)
