"""Hypothesis profiles: how many examples a property test draws, chosen by an environment variable.

``HYPOTHESIS_PROFILE`` is ``quick`` (10 examples, what ``make test`` runs and the default),
``default`` (100, ``make test-e2e`` and continuous integration) or ``thorough`` (1000,
``make test-all``). A test that needs more or fewer examples than others says how many it draws
under ``default``, as ``@settings(max_examples=examples(150))``; the other profiles draw the same
share of it. A test of many cases that each take long draws a few of them under ``quick``, as
``@pytest.mark.parametrize("case", some(CASES, 8))``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

Case = TypeVar("Case")

PROFILES = {"quick": 10, "default": 100, "thorough": 1000}
"""Examples of a test that pins nothing, by profile."""
VARIABLE = "HYPOTHESIS_PROFILE"


def load() -> None:
    """Register the profiles and load the one that the environment names.

    Raises `ValueError` for a name that is no profile.
    """
    for name, count in PROFILES.items():
        settings.register_profile(name, max_examples=count, deadline=None, print_blob=True)
    chosen = os.environ.get(VARIABLE) or "quick"
    if chosen not in PROFILES:
        raise ValueError(f"{VARIABLE} is {chosen!r}, not one of {', '.join(PROFILES)}")
    settings.load_profile(chosen)


def examples(under_default: int) -> int:
    """Return how many examples the profile in force draws where `default` draws so many."""
    count: int = settings().max_examples
    return max(1, under_default * count // PROFILES["default"])


def some(cases: Sequence[Case], under_quick: int) -> list[Case]:
    """Return evenly spaced cases under `quick`, and all of them under other profiles."""
    if (os.environ.get(VARIABLE) or "quick") != "quick" or under_quick >= len(cases):
        return list(cases)
    return [cases[place * len(cases) // under_quick] for place in range(under_quick)]
