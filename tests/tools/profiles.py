"""Hypothesis profiles: the number of examples per property test, set by a variable.

``HYPOTHESIS_PROFILE`` is ``quick`` (10 examples, what ``make test`` runs and the default),
``default`` (100, ``make test-e2e`` and continuous integration) or ``thorough`` (1000,
``make test-all``). A test that needs more or fewer examples than others sets the number for
``default`` with ``@settings(max_examples=examples(150))``; the other profiles scale it. A test with
many slow cases selects a few of them under ``quick`` with ``@pytest.mark.parametrize("case",
some(CASES, 8))``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")

PROFILES = {"quick": 10, "default": 100, "thorough": 1000}
"""The number of examples of tests without their own setting, by profile."""
VARIABLE = "HYPOTHESIS_PROFILE"


def load() -> None:
    """Register the profiles and load the one set in the environment.

    Raises `ValueError` for an unknown profile.
    """
    for name, count in PROFILES.items():
        settings.register_profile(name, max_examples=count, deadline=None, print_blob=True)
    chosen = os.environ.get(VARIABLE) or "quick"
    if chosen not in PROFILES:
        raise ValueError(f"{VARIABLE} is {chosen!r}, not one of {', '.join(PROFILES)}")
    settings.load_profile(chosen)


def examples(under_default: int) -> int:
    """Scale a number of examples for `default` to the current profile."""
    count: int = settings().max_examples
    return max(1, under_default * count // PROFILES["default"])


def some(cases: Sequence[Case], under_quick: int) -> list[Case]:
    """Return evenly spaced cases under `quick`, all of them under other profiles."""
    if (os.environ.get(VARIABLE) or "quick") != "quick" or under_quick >= len(cases):
        return list(cases)
    return [cases[place * len(cases) // under_quick] for place in range(under_quick)]
