"""/metrics: counters of every process added up, and gauges read from Redis and SQL at scrape time."""

import os
import time
from collections.abc import Iterator

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
    multiprocess,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from api.parts import Parts
from controller.errors import JackpotError
from controller.money import displayed
from models.archive import open_alarm_counts

REQUESTS = Counter("jackpot_requests_total", "Requests answered", ["route", "method", "status"])
SECONDS = Histogram(
    "jackpot_request_seconds",
    "Time to answer",
    ["route"],
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)


class StateCollector(Collector):
    """Gauges of the links, the same whichever process is asked."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read the state now; what cannot be read is left out, so that its alert for absence fires."""
        try:
            yield from self._journal()
            yield from self._meters()
            yield from self._alarms()
        except JackpotError:
            return

    def _journal(self) -> Iterator[GaugeMetricFamily]:
        backlog = GaugeMetricFamily(
            "jackpot_journal_backlog_entries",
            "Journal entries that the ledger does not have",
            labels=["link"],
        )
        oldest = GaugeMetricFamily(
            "jackpot_journal_oldest_seconds", "Age of the oldest of them", labels=["link"]
        )
        closed = GaugeMetricFamily("jackpot_link_closed", "1 when the link failed closed", labels=["link"])
        for link in self._parts.floor.known().floor.link_ids:
            length, written_at = self._parts.store.backlog(link)
            age = max(0.0, time.time() - written_at / 1e6) if written_at else 0.0
            head = self._parts.store.head(link)
            backlog.add_metric([link], length)
            oldest.add_metric([link], age)
            closed.add_metric([link], 1 if head is None or head.status == "closed" else 0)
        yield from (backlog, oldest, closed)

    def _meters(self) -> Iterator[GaugeMetricFamily]:
        value = GaugeMetricFamily(
            "jackpot_meter_value_cents", "What the sign shows", labels=["link", "meter"]
        )
        for state in self._parts.meters.snapshot().states:
            value.add_metric([state.link, state.id], displayed(state.shown_value))
        yield value

    def _alarms(self) -> Iterator[GaugeMetricFamily]:
        count = GaugeMetricFamily("jackpot_open_alarms", "Alarms that wait for a person", labels=["link"])
        counts = open_alarm_counts(self._parts.ledger)
        for link in self._parts.floor.known().floor.link_ids:
            count.add_metric([link], counts.get(link, 0))
        yield count


def exposition(parts: Parts) -> tuple[bytes, str]:
    """The text that Prometheus scrapes."""
    registry = CollectorRegistry()
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        counted = b""
    else:
        counted = generate_latest(REGISTRY)
    registry.register(StateCollector(parts))
    return counted + generate_latest(registry), CONTENT_TYPE_LATEST
