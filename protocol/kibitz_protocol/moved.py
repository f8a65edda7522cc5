"""The module names of before, which still work for one release and warn.

`import kibitz_protocol.messages` finds `kibitz_protocol.wire.messages`, and so on; an import hook
knows the table below. Names that changed inside of a module are in its own table.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Sequence
from types import ModuleType
from typing import Final

MODULES: Final = {
    "clocks": "wire.clocks",
    "codec": "wire.codec",
    "errors": "client.errors",
    "messages": "wire.messages",
    "recordfile": "wire.recordfile",
    "records": "wire.records",
    "refusals": "wire.refusals",
    "reports": "wire.reports",
    "rooms": "wire.lobbies",
    "session": "client.session",
    "values": "wire.values",
}
"""Old module of the package: where it is now."""
NAMES: Final = {
    "rooms": {"LobbyState": "LobbyPhase"},
    "session": {
        "Ended": "SessionEnded",
        "Gone": "MatchLost",
        "Happening": "SessionEvent",
        "Identity": "ClientIdentity",
        "Lost": "Disconnected",
        "Patience": "SessionTimeouts",
        "State": "SessionState",
        "Told": "NewsReceived",
    },
}
"""Old module: its names that changed."""


class _OldModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the old modules; each is a module with the same objects as the new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if package != __package__ or name not in MODULES:
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Let the import system make an empty module."""

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__.rpartition(".")[2]
        now = f"{__package__}.{MODULES[name]}"
        warnings.warn(
            f"{module.__name__} is {now} now; the old name goes with the next release",
            DeprecationWarning,
            stacklevel=2,
        )
        found = importlib.import_module(now)
        module.__dict__.update({key: getattr(found, key) for key in vars(found) if key[0] != "_"})
        renamed = NAMES.get(name, {})
        module.__dict__.update({old: getattr(found, new) for old, new in renamed.items()})


def install() -> None:
    """Let imports find the old modules."""
    sys.meta_path.append(_OldModules())
