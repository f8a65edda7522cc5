"""The bounded cache."""

from __future__ import annotations

from kibitz_server.match.lru_cache import LRUCache


def test_what_nobody_used_for_longest_goes_first() -> None:
    recent: LRUCache[str, int] = LRUCache(10)
    for name in "abc":
        recent.put(name, ord(name), 3)
    assert recent.get("a") == ord("a")
    recent.put("d", 0, 3)
    assert [recent.get(name) is None for name in "abcd"] == [False, True, False, False]
    assert (len(recent), recent.weight) == (3, 9)


def test_what_is_put_again_replaces_what_was_there() -> None:
    recent: LRUCache[str, int] = LRUCache(10)
    recent.put("a", 1, 9)
    recent.put("a", 2, 2)
    assert (recent.get("a"), recent.weight) == (2, 2)


def test_what_is_too_heavy_is_not_kept_and_drives_nothing_out() -> None:
    recent: LRUCache[str, int] = LRUCache(10)
    recent.put("a", 1, 9)
    recent.put("b", 2, 11)
    assert (recent.get("a"), recent.get("b")) == (1, None)


def test_a_hundred_thousand_leave_what_there_is_room_for() -> None:
    recent: LRUCache[int, int] = LRUCache(1000)
    for number in range(100_000):
        recent.put(number, number, 10)
    assert (len(recent), recent.weight) == (100, 1000)
