"""Names of the SDK as they were before: for one release they work, and warn.

Everything here is deleted after that, with the lines that use it.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

RENAMED_METHODS = {"warm": "prepare", "started": "on_match_start", "finished": "on_match_end"}
"""Methods of `Bot` that authors wrote or called, and their names now."""


def warn(old: str, new: str, *, level: int = 3) -> None:
    """Warn of an old name, at the place in an author's code that is `level` calls up from here."""
    warnings.warn(f"{old} is {new} now", DeprecationWarning, stacklevel=level)


def deprecated_property(old: str, new: str) -> Any:
    """Return a property that gives the attribute `new`, and warns that it is no longer `old`."""

    def read(self: Any) -> Any:
        warn(f"{type(self).__name__}.{old}", new)
        return getattr(self, new)

    return property(read, doc=f"The old name of `{new}`.")


def take_over_old_names(bot: type[Any]) -> None:
    """Make what a class of bots says under old names mean the same under the new ones.

    And the other way round: who calls ``super().warm(...)`` reaches what its base class has under
    the new name.
    """
    own = vars(bot)
    rules = own.get("rules")
    if isinstance(rules, str) and rules in ("compiled", "plain") and "jit" not in own:
        bot.jit = rules != "plain"
        warn(f"{bot.__name__}.rules = {rules!r}", f"jit = {bot.jit}", level=4)
    for old, new in RENAMED_METHODS.items():
        if old in own and new not in own:
            warn(f"{bot.__name__}.{old}", new, level=4)
            setattr(bot, new, own[old])
        elif new in own:
            setattr(bot, old, _forwarding(old, new, own[new]))


def _forwarding(old: str, new: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **options: Any) -> Any:
        warn(old, new)
        return method(*args, **options)

    call.__name__, call.__doc__ = old, f"The old name of `{new}`."
    return call
