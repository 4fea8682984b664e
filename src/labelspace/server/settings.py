"""What a server is started with: the model, who may reach it, and how much it takes on.

Worker processes get the same settings through one environment variable.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

ENVIRONMENT = "LABELSPACE_SERVE"

# Names that a browser on this machine uses for this machine. Any other name that leads here is
# another site's, pointed at this address to read the answers (DNS rebinding).
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]", "::1")


@dataclass(frozen=True)
class Limits:
    """How much one server takes on; beyond it the answer is 413, 422, 429, 503 or 507.

    Sizes are in bytes and times in seconds.
    """

    body: int = 1 << 20
    """Body of a request other than a batch."""
    batch_body: int = 64 << 20
    """Body of a batch, which is read as it comes."""
    batch_rows: int = 100_000
    """Lines of a batch."""
    batches: int = 4
    """Batches that run at the same time."""
    queue: int = 32
    """Rows that wait for the model."""
    time: float = 10.0
    """From a row's arrival to its answer."""
    file_time: float = 60.0
    """For a file of the page to arrive, and to be read."""
    connections: int = 1000
    """Connections and running requests."""
    shutdown: int = 30
    """What runs may go on for so long after SIGTERM."""
    lessons: int = 8
    """Requests to learn that wait for their turn."""
    learned_rows: int = 1_000_000
    """Rows that a model may be taught in all."""
    learned_labels: int = 100_000
    """New labels that a model may be taught in all."""
    learned_bytes: int = 1 << 30
    """Size of the file of what was taught."""
    free_disk: int = 64 << 20
    """What is left of the disk; below it nothing is learned."""


@dataclass(frozen=True)
class ServerSettings:
    """Everything that ``labelspace serve`` was told."""

    model: str
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = None
    encoder: str | None = None
    """The encoder that the model learned with, where it is not one of ours."""
    workers: int = 1
    n_threads: int = 1
    """Threads of the model in each worker: for a few rows, more cost more than they bring."""
    limits: Limits = field(default_factory=Limits)
    others: tuple[str, ...] = ()
    """Folders of further models."""
    shown_name: str | None = None
    """What the model is called, where its folder's name will not do."""
    held_out: str | None = None
    """A corpus on which lessons are measured before they go live."""
    poll: float = 1.0
    """Seconds between two looks at the model folder and at what other workers learned."""
    fold_rows: int = 1000
    """Rows learned before the model folder is saved again."""
    fold_seconds: float = 60.0
    """Seconds after the last row learned before the model folder is saved again."""

    @property
    def folder(self) -> Path:
        """The model folder."""
        return Path(self.model)

    @property
    def name(self) -> str:
        """What the model is called: as its folder, or as that above one that is called "model"."""
        folder = Path(os.path.abspath(self.model))
        own = folder.parent.name if folder.name == "model" and folder.parent.name else folder.name
        return self.shown_name or own

    @property
    def held_out_path(self) -> Path | None:
        """The corpus on which lessons are measured."""
        return None if self.held_out is None else Path(self.held_out)

    @property
    def is_local(self) -> bool:
        """Only this machine can reach the server."""
        return self.host in LOOPBACK_NAMES or self.host.startswith("127.")

    def to_environment(self) -> None:
        """Leave the settings where worker processes find them."""
        os.environ[ENVIRONMENT] = _JSON.dump_json(self).decode()

    @staticmethod
    def from_environment() -> ServerSettings:
        """Return the settings that the parent process left."""
        return _JSON.validate_json(os.environ[ENVIRONMENT])


_JSON = TypeAdapter(ServerSettings)
