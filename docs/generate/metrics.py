"""Generate the reference of `/metrics` from the metric families that a server exports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import kibitz_server
from docs.generate.markdown import table
from kibitz_protocol.wire.records import Cause
from kibitz_protocol.wire.refusals import Code
from kibitz_server.metrics import GAUGES, Metrics

if TYPE_CHECKING:
    from prometheus_client.core import Metric

HEAD = """# Metrics

`GET /metrics` on the server's port returns these metrics in the Prometheus text format. Each node
has its own metrics. Counters and histograms start at 0 when the server starts. A request counts as
ten against the rate limit of an address ([limits](limits.md)), so scraping every 15 s stays far
below the limit.

[Monitor a server](../how-to/monitoring.md) explains which metrics to watch, and has a dashboard.
"""
TYPES = """\
In queries, the names of counters end in `_total`. Each histogram has three series: `_bucket`,
`_sum` and `_count`.
"""


def page() -> str:
    """Return the page: a row for each family, then the values of the labels."""
    exported = list(families())
    rows = [[f"`{each.name}`", each.type, _label(each), each.documentation] for each in exported]
    parts = [HEAD, "## All metrics\n", table(("name", "type", "label", "value"), rows), TYPES]
    parts += ["## Labels\n", *_labels(exported)]
    return "\n".join(parts)


def families() -> Iterator[Metric]:
    """Yield every metric family, with a sample for each of its possible labels."""
    metrics = Metrics()
    metrics.gauges = lambda: dict.fromkeys(GAUGES, 0)
    metrics.finished.update(Cause)
    metrics.refusals.update(Code)
    metrics.drops.update(drop_reasons())
    metrics.moved_lobbies.update(["taken", "lost"])
    return metrics.collect()


def drop_reasons() -> list[str]:
    """Return the reasons for dropped connections that appear in the server's sources."""
    folder = Path(kibitz_server.__file__).parent
    sources = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    return sorted({*re.findall(r'metrics\.drops\["([^"]+)"\]', sources)})


def _label(family: Metric) -> str:
    names = [name for name in family.samples[0].labels if name != "le"]
    return f"`{names[0]}`" if names else ""


def _labels(families: list[Metric]) -> Iterator[str]:
    """Yield a list item with the label's values for each family with a label."""
    for family in families:
        if label := _label(family).strip("`"):
            values = ", ".join(f"`{sample.labels[label]}`" for sample in family.samples)
            yield f"- `{family.name}`, `{label}`: {values}"
    yield ""
