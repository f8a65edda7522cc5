"""Pydantic's first error as a sentence with its path."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from kibitz_protocol.wire.explain import first_problem


class Seat(BaseModel):
    number: int


@pytest.mark.parametrize(
    ("path", "data", "sentence"),
    [
        ((), "[{}]", "0.number: Field required"),
        (("seats",), "[{}]", "seats.0.number: Field required"),
        (("seats",), "1", "seats: Input should be a valid array"),
        ((), "1", "Input should be a valid array"),
    ],
)
def test_the_first_problem_is_behind_its_path(
    path: tuple[str, ...], data: str, sentence: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(list[Seat]).validate_json(data)
    assert first_problem(refused.value, *path) == sentence
