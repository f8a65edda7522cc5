"""The round-trip time measured by pings."""

from __future__ import annotations

from kibitz_server.net.round_trip import SAMPLES, RoundTrip


def measured(*took: int) -> RoundTrip:
    trip = RoundTrip()
    for index, milliseconds in enumerate(took, start=1):
        ping = trip.ping(index * 1000)
        assert trip.pong(ping, index * 1000 + milliseconds)
    return trip


def test_it_is_the_shortest_of_the_last_few() -> None:
    assert RoundTrip().ms == 0
    assert measured(40, 20, 90).ms == 20
    assert measured(20, *[90] * SAMPLES).ms == 90


def test_it_is_new_until_as_many_were_taken_as_are_kept() -> None:
    assert measured(*[5] * (SAMPLES - 1)).is_new
    assert not measured(*[5] * SAMPLES).is_new


def test_a_pong_that_answers_no_ping_is_nothing() -> None:
    trip = measured(40)
    assert not trip.pong((1000).to_bytes(8, "big"), 1001)  # answered already
    ping = trip.ping(2000)
    assert not trip.pong(b"unasked", 2001)
    assert not trip.pong((0).to_bytes(8, "big"), 2001)
    assert trip.pong(ping, 2010)
    assert trip.ms == 10
