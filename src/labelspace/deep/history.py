"""What happened in a training, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from labelspace.store import Storable, schema

_CLOCKS = ("seconds", "cpu_seconds")


class History(Storable):
    """One record per epoch, each a dict of numbers by name; a saved one has no seconds.

    Examples
    --------
    >>> history = History()
    >>> history.add({"epoch": 1, "loss": 3.0})
    >>> history.add({"epoch": 2, "loss": 2.5, "P@1": 61.0})
    >>> history["loss"]
    [3.0, 2.5]
    >>> history.best("P@1")["epoch"]
    2.0
    """

    _schema: ClassVar[schema.Schema] = {"records": schema.list_of(schema.numbers_by_name)}

    def __init__(self, records: list[dict[str, float]] | None = None) -> None:
        self.records = [] if records is None else records

    def _to_state(self) -> dict[str, Any]:
        """Leave out how long epochs took, so that the same training gives the same files."""
        kept = [
            {name: value for name, value in record.items() if name not in _CLOCKS}
            for record in self.records
        ]
        return {"records": kept}

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[dict[str, float]]:
        return iter(self.records)

    def __getitem__(self, name: str) -> list[float]:
        """Return the numbers of that name, of the epochs that have it."""
        return [record[name] for record in self.records if name in record]

    def add(self, record: dict[str, Any]) -> None:
        """Add the record of one more epoch."""
        self.records.append({name: float(value) for name, value in record.items()})

    def best(self, name: str) -> dict[str, float]:
        """Return the record in which a number is largest; the first of equal ones."""
        return max((one for one in self.records if name in one), key=lambda one: one[name])
