"""Names of before, which work for one release and warn."""

from __future__ import annotations

import importlib
import sys

import pytest

from kibitz_protocol import moved


@pytest.mark.parametrize("name", moved.MODULES)
def test_an_old_module_has_the_names_of_the_new_one_and_warns(name: str) -> None:
    sys.modules.pop(f"kibitz_protocol.{name}", None)
    with pytest.warns(DeprecationWarning, match=rf"kibitz_protocol\.{name} is kibitz_protocol\."):
        old = importlib.import_module(f"kibitz_protocol.{name}")
    new = importlib.import_module(f"kibitz_protocol.{moved.MODULES[name]}")
    public = {key for key in vars(new) if not key.startswith("_")}
    assert public <= vars(old).keys()
    for before, now in moved.NAMES.get(name, {}).items():
        assert getattr(old, before) is getattr(new, now)


def test_the_client_is_where_it_was() -> None:
    from kibitz_protocol.client import Client

    assert Client.__module__ == "kibitz_protocol.client.client"


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("kibitz_protocol.nothing")
