"""Counters in the text form that Prometheus reads.

All series are known beforehand, so a worker's counters are one array of fixed layout. With
several workers each array is a small mapped file, and whichever worker is asked adds them up.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from pathlib import Path
from typing import Any

import numpy as np

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
    "other",
)
STATUSES = (200, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 429, 500, 503)
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
COUNTERS = {
    "labelspace_rows_tagged_total": "Rows that were ranked.",
    "labelspace_batches_total": "Batches that they were ranked in.",
    "labelspace_rows_learned_total": "Rows that were learned through the API.",
    "labelspace_model_loads_total": "Times that the model was loaded.",
    "labelspace_model_load_failures_total": "Times that a replaced model could not be loaded.",
}

_N_STATUSES = len(STATUSES)
_N_BUCKETS = len(SECONDS) + 2  # the last two: more than all bounds, and the sum of seconds
_TIMES = len(ROUTES) * _N_STATUSES
_COUNTERS = _TIMES + len(ROUTES) * _N_BUCKETS
_SIZE = _COUNTERS + len(COUNTERS)
_ROUTE = {route: at for at, route in enumerate(ROUTES)}
_STATUS = {status: at for at, status in enumerate(STATUSES)}
_COUNTER = {name: _COUNTERS + at for at, name in enumerate(COUNTERS)}


class Metrics:
    """The counters of one worker.

    >>> metrics = Metrics()
    >>> metrics.count_request("/v1/tag", 200, 0.004)
    >>> [line for line in metrics.text({}).splitlines() if line.startswith("labelspace_requests")]
    ['labelspace_requests_total{route="/v1/tag",status="200"} 1']
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._values: Any
        if folder is None:
            self._values = np.zeros(_SIZE)
        else:
            file = Path(folder) / f"{os.getpid()}.f64"
            self._values = np.memmap(file, dtype=np.float64, mode="w+", shape=(_SIZE,))

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        route = _ROUTE.get(path, _ROUTE["other"])
        self._values[route * _N_STATUSES + _STATUS.get(status, _STATUS[500])] += 1
        first = _TIMES + route * _N_BUCKETS
        self._values[first + bisect_left(SECONDS, seconds)] += 1
        self._values[first + _N_BUCKETS - 1] += seconds

    def add(self, name: str, amount: float) -> None:
        """Add to one of the other counters."""
        self._values[_COUNTER[name]] += amount

    def text(self, gauges: dict[str, tuple[str, float]]) -> str:
        """Return all counters, and gauges by name with what they mean."""
        values = self._summed()
        lines = [*_heading("labelspace_requests_total", "counter", "Requests answered.")]
        for route, at in _ROUTE.items():
            for status, also_at in _STATUS.items():
                n = values[at * _N_STATUSES + also_at]
                if n:
                    labels = f'{{route="{route}",status="{status}"}}'
                    lines.append(f"labelspace_requests_total{labels} {n:.0f}")
        name = "labelspace_request_seconds"
        lines += _heading(name, "histogram", "Time from a request's headers to its answer's end.")
        for route, at in _ROUTE.items():
            first = _TIMES + at * _N_BUCKETS
            buckets = np.cumsum(values[first : first + _N_BUCKETS - 1])
            if not buckets[-1]:
                continue
            for bound, n in zip((*SECONDS, "+Inf"), buckets, strict=True):
                lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {n:.0f}')
            lines.append(f'{name}_sum{{route="{route}"}} {values[first + _N_BUCKETS - 1]:.6f}')
            lines.append(f'{name}_count{{route="{route}"}} {buckets[-1]:.0f}')
        for name, meaning in COUNTERS.items():
            lines += [*_heading(name, "counter", meaning), f"{name} {values[_COUNTER[name]]:.0f}"]
        for name, (meaning, value) in gauges.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [*_heading(name, kind, meaning), f"{name} {value:.10g}"]
        return "\n".join(lines) + "\n"

    def _summed(self) -> Any:
        if self._folder is None:
            return self._values
        total = np.zeros(_SIZE)
        for file in Path(self._folder).glob("*.f64"):
            counted = np.fromfile(file, dtype=np.float64)
            if counted.size == _SIZE:
                total += counted
        return total


def _heading(name: str, kind: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"
