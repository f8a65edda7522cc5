"""Counters and measurements of the server, in Prometheus format.

For speed, the server updates plain integers and lists. They are converted to samples only when the
page is requested. Each server has its own registry.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code

if TYPE_CHECKING:  # imported here, so that only the first request for the page loads the library
    from prometheus_client.core import Metric

SECONDS_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
ENTRIES_BUCKETS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
GAUGES: Final[Mapping[str, str]] = {
    "connections": "open websocket connections",
    "players": "players with at least one connection",
    "spectators": "spectators of matches, counted once per match",
    "matches_live": "running matches",
    "lobbies_open": "open lobbies",
    "house_bots": "house bots; each is a process",
    "damaged": "matches and lobbies that the server set aside as damaged",
    "ready": "1 if the server accepts players, else 0; the same as /readyz",
    "node_serving": "1 if this node serves, 0 if it is a standby; only with --node",
    "matches_elsewhere": "matches of other nodes that have spectators here; only with --node",
}
"""Descriptions of the gauges that `Metrics.gauges` may return."""


class Histogram:
    """Counts by upper bound, and their sum."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        self._counts[bisect_left(self._bounds, value)] += times
        self._sum += value * times

    @property
    def count(self) -> int:
        return sum(self._counts)

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Return cumulative counts by upper bound, in Prometheus's format, and the sum."""
        total = 0
        lines: list[tuple[str, float]] = []
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            lines.append((bound, float(total)))
        return lines, self._sum


class Metrics:
    """The counters and measurements of a server."""

    def __init__(self) -> None:
        self.move_ms: defaultdict[int, int] = defaultdict(int)
        """Accepted moves, by the milliseconds from arrival to answer."""
        self.finished: Counter[Cause] = Counter()
        self.refusals: Counter[Code] = Counter()
        self.drops: Counter[str] = Counter()
        self.moved_lobbies: Counter[Literal["taken", "lost"]] = Counter()
        """The numbers of lobbies that this node took over from others, and that others took over
        from it.
        """
        self.commit_entries = Histogram(ENTRIES_BUCKETS)
        self.commit_seconds = Histogram(SECONDS_BUCKETS)
        self.loop_lag = Histogram(SECONDS_BUCKETS)
        self.gauges: Callable[[], Mapping[str, int]] = dict
        """Returns the current values; called when the page is requested."""

    def move_seconds(self) -> Histogram:
        """Return the histogram of `move_ms`, in seconds."""
        made = Histogram(SECONDS_BUCKETS)
        for milliseconds, count in self.move_ms.items():
            made.observe(milliseconds / 1000, count)
        return made

    def committed(self, entries: int, seconds: float) -> None:
        self.commit_entries.observe(entries)
        self.commit_seconds.observe(seconds)

    # --- prometheus -------------------------------------------------------------------------

    def collect(self) -> Iterator[Metric]:
        """Yield metrics for Prometheus; implements its client library's collector protocol."""
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        for name, value in self.gauges().items():
            yield GaugeMetricFamily(f"kibitz_{name}", GAUGES[name], value)
        yield CounterMetricFamily("kibitz_moves", "accepted moves", sum(self.move_ms.values()))
        for name, text, label, counts in (
            ("matches_finished", "finished matches", "cause", self.finished),
            ("refusals", "refused requests", "code", self.refusals),
            ("connections_dropped", "connections that the server closed", "reason", self.drops),
            ("lobbies_moved", "lobbies that changed nodes", "how", self.moved_lobbies),
        ):
            family = CounterMetricFamily(f"kibitz_{name}", text, labels=[label])
            for key, count in counts.items():
                family.add_metric([str(key)], count)
            yield family
        for name, text, histogram in (
            ("commit_entries", "log entries in one commit", self.commit_entries),
            ("commit_seconds", "seconds that a commit takes", self.commit_seconds),
            ("move_seconds", "seconds from a move's arrival to its answer", self.move_seconds()),
            ("loop_lag_seconds", "seconds by which the event loop was late", self.loop_lag),
        ):
            buckets, total = histogram.buckets()
            yield HistogramMetricFamily(f"kibitz_{name}", text, buckets=buckets, sum_value=total)

    def page(self) -> bytes:
        """Return the `/metrics` page."""
        from prometheus_client import CollectorRegistry, generate_latest

        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)
