"""What ``GET /metrics`` tells Prometheus.

With several workers ``PROMETHEUS_MULTIPROC_DIR`` names a folder where each keeps its counters in a
mapped file, and whichever worker is asked adds them up. prometheus_client reads the variable when
it is imported, so it has to be there before a worker starts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

ROUTES = (
    "/",
    "/v1/tag",
    "/v1/tag/batch",
    "/v1/learn",
    "/v1/labels",
    "/v1/map",
    "/v1/model",
    "/healthz",
    "/readyz",
    "/metrics",
)
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTERS = {
    "labelspace_rows_tagged_total": "Rows that were ranked.",
    "labelspace_batches_total": "Batches that they were ranked in.",
    "labelspace_rows_learned_total": "Rows that were learned through the API.",
    "labelspace_model_loads_total": "Times that the model was loaded.",
    "labelspace_model_load_failures_total": "Times that a replaced model could not be loaded.",
}

disable_created_metrics()  # a series beside each counter that tells when it was begun


class Metrics:
    """The counters of one worker.

    >>> metrics = Metrics()
    >>> metrics.count_request("/v1/tag", 200, 0.004)
    >>> [line for line in metrics.text({}).splitlines() if line.startswith("labelspace_requests")]
    ['labelspace_requests_total{route="/v1/tag",status="200"} 1.0']
    """

    def __init__(self) -> None:
        self._own = CollectorRegistry()
        self._requests = Counter(
            "labelspace_requests_total",
            "Requests answered.",
            ("route", "status"),
            registry=self._own,
        )
        self._seconds = Histogram(
            "labelspace_request_seconds",
            "Time from a request's headers to its answer's end.",
            ("route",),
            buckets=SECONDS,
            registry=self._own,
        )
        self._counters = {
            name: Counter(name, meaning, registry=self._own) for name, meaning in COUNTERS.items()
        }

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        # A series for each address that a stranger makes up would fill the memory.
        route = path if path in ROUTES else "other"
        self._requests.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def add(self, name: str, amount: float) -> None:
        """Add to one of the other counters."""
        self._counters[name].inc(amount)

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """Return all counters, and of this worker its process and gauges, by name with meaning."""
        shown = CollectorRegistry()
        if SHARED_FOLDER in os.environ:
            MultiProcessCollector(shown)
        else:
            shown.register(self._own)
        ProcessCollector(registry=shown)
        shown.register(_Gauges(gauges))
        return generate_latest(shown).decode()


class _Gauges(Collector):
    """Values of this moment, which no other worker adds to."""

    def __init__(self, values: dict[str, tuple[str, float]]) -> None:
        self._values = values

    def collect(self) -> Iterable[Metric]:
        for name, (meaning, value) in self._values.items():
            yield GaugeMetricFamily(name, meaning, value=value)
