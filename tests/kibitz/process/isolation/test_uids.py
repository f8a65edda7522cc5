from __future__ import annotations

import pytest

from kibitz.process.isolation import uids


def test_without_need_nobody_gets_a_user() -> None:
    with uids.allocate(False) as user:
        assert user is None


def test_two_at_the_same_time_have_different_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "WIDE_RANGE", range(0x70000000, 0x70000002))
    monkeypatch.setattr(uids, "NARROW_RANGE", range(61184, 61186))
    with uids.allocate() as one, uids.allocate() as other:
        assert one != other
        with pytest.raises(uids.NoUserError), uids.allocate():
            pass
    with uids.allocate() as again:
        assert again in (one, other)


def test_a_user_that_runs_something_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uids, "_has_processes", lambda number: True)
    with pytest.raises(uids.NoUserError), uids.allocate():
        pass
