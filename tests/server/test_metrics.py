"""The metrics in Prometheus's format."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code
from kibitz_server.metrics import Histogram, Metrics


def test_a_histogram_counts_up_to_and_including_its_bounds() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.observe(value)
    assert histogram.buckets() == ([("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)], 14.0)
    assert histogram.count == 5


def test_the_page_says_everything_that_was_counted() -> None:
    metrics = Metrics()
    metrics.move_ms[3] += 1
    metrics.finished[Cause.TIME] += 1
    metrics.refusals[Code.STALE] += 1
    metrics.drops["flood"] += 1
    metrics.moved_lobbies["taken"] += 3
    metrics.committed(7, 0.003)
    metrics.loop_lag.observe(0.2)
    metrics.gauges = lambda: {"connections": 12}
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(metrics.page().decode())
        for sample in family.samples
    }
    assert samples[("kibitz_connections",)] == 12
    assert samples[("kibitz_moves_total",)] == 1
    assert samples[("kibitz_matches_finished_total", "time")] == 1
    assert samples[("kibitz_refusals_total", "stale")] == 1
    assert samples[("kibitz_connections_dropped_total", "flood")] == 1
    assert samples[("kibitz_lobbies_moved_total", "taken")] == 3
    assert samples[("kibitz_commit_entries_sum",)] == 7
    assert samples[("kibitz_move_seconds_bucket", "0.005")] == 1
    assert samples[("kibitz_move_seconds_bucket", "0.002")] == 0
    assert samples[("kibitz_loop_lag_seconds_count",)] == 1


def test_two_servers_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.move_ms[1] += 1
    assert b"kibitz_moves_total 1.0" in one.page()
    assert b"kibitz_moves_total 0.0" in other.page()
