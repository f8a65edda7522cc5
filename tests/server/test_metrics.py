"""The figures, as prometheus reads them."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from kibitz_protocol.records import Cause
from kibitz_protocol.refusals import Code
from kibitz_server.metrics import Figures, Histogram


def test_a_histogram_counts_up_to_and_including_its_bounds() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.observe(value)
    assert histogram.buckets() == ([("1.0", 2.0), ("2.0", 4.0), ("+Inf", 5.0)], 14.0)
    assert histogram.count == 5


def test_the_page_says_everything_that_was_counted() -> None:
    figures = Figures()
    figures.moved(3)
    figures.ended(Cause.TIME)
    figures.refused(Code.STALE)
    figures.shed("flood")
    figures.committed(7, 0.003)
    figures.lagged(0.2)
    figures.gauges = lambda: {"connections": 12}
    samples = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(figures.page().decode())
        for sample in family.samples
    }
    assert samples[("kibitz_connections",)] == 12
    assert samples[("kibitz_moves_total",)] == 1
    assert samples[("kibitz_matches_finished_total", "time")] == 1
    assert samples[("kibitz_refusals_total", "stale")] == 1
    assert samples[("kibitz_peers_shed_total", "flood")] == 1
    assert samples[("kibitz_commit_entries_sum",)] == 7
    assert samples[("kibitz_move_seconds_bucket", "0.005")] == 1
    assert samples[("kibitz_move_seconds_bucket", "0.002")] == 0
    assert samples[("kibitz_loop_lag_seconds_count",)] == 1


def test_two_servers_count_apart() -> None:
    one, other = Figures(), Figures()
    one.moved(1)
    assert b"kibitz_moves_total 1.0" in one.page()
    assert b"kibitz_moves_total 0.0" in other.page()
