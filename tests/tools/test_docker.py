"""What can be told of images and compose files without Docker: that they fit to the clone."""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[2]
IMAGES = {name: PROJECT / name for name in ("Dockerfile", "docker/cluster.Dockerfile")}
COMPOSE = {name: PROJECT / name for name in ("compose.yaml", "docker/cluster-compose.yaml")}

every_image = pytest.mark.parametrize("image", IMAGES)


def steps(image: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, each with what it is told."""
    told = re.sub(r"\\\n", " ", IMAGES[image].read_text())
    lines = [line.strip() for line in told.splitlines()]
    instructions = [line for line in lines if line and not line.startswith("#")]
    return [(name, rest.strip()) for name, _, rest in (one.partition(" ") for one in instructions)]


def is_sent(path: str) -> bool:
    """Tell whether .dockerignore, of which the last rule that fits counts, lets a path through."""
    sent = True
    for line in (PROJECT / ".dockerignore").read_text().split():
        rule = line.removeprefix("!")
        if fnmatch(path, rule) or path.startswith(f"{rule}/"):
            sent = line.startswith("!")
    return sent


def compose(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(COMPOSE[name].read_text())


@every_image
def test_what_is_copied_is_there_and_reaches_docker(image: str) -> None:
    copied = [
        source
        for name, told in steps(image)
        if name == "COPY" and "--from" not in told
        for source in [part for part in told.split() if not part.startswith("--")][:-1]
    ]
    assert copied
    assert [source for source in copied if not (PROJECT / source).exists()] == []
    assert [source for source in copied if not is_sent(source)] == []
    assert not is_sent("tests/conftest.py")


@every_image
def test_it_does_not_run_as_root_and_has_its_kernels_compiled(image: str) -> None:
    names = [name for name, _ in steps(image)]
    last = len(names) - 1 - names[::-1].index("FROM")
    running = steps(image)[last:]
    at = next(place for place, (name, _) in enumerate(running) if name == "USER")
    assert running[at][1] == "labelspace"
    warmed = [told for name, told in running[at:] if name == "RUN"]
    assert len(warmed) == 1, "kernels are compiled by the user who will run them"
    assert "warm" in warmed[0]
    assert any("NUMBA_CACHE_DIR=" in told for name, told in running[:at] if name == "ENV")


@pytest.mark.parametrize("name", COMPOSE)
def test_a_compose_file_builds_an_image_of_the_clone(name: str) -> None:
    services = compose(name)["services"]
    builds = [one["build"] for one in services.values() if "build" in one]
    assert len(builds) == 1
    build = builds[0] if isinstance(builds[0], dict) else {"context": builds[0]}
    context = (COMPOSE[name].parent / build["context"]).resolve()
    assert context == PROJECT
    assert (context / build.get("dockerfile", "Dockerfile")).is_file()
    assert len({one["image"] for one in services.values()}) == 1


def test_a_head_and_two_workers_form_a_cluster() -> None:
    services = compose("docker/cluster-compose.yaml")["services"]
    assert set(services) == {"head", "worker-1", "worker-2"}
    assert len({str(one["volumes"]) for one in services.values()}) == 1, "all see one folder"
    head, *workers = (shlex.split(one["command"]) for one in services.values())
    port = next(option for option in head if option.startswith("--port=")).partition("=")[2]
    for worker, service in zip(workers, list(services.values())[1:], strict=True):
        assert f"--address=head:{port}" in worker
        assert service["depends_on"]["head"]["condition"] == "service_healthy"
    ray_start = pytest.importorskip("ray.scripts.scripts").start
    known = {option for parameter in ray_start.params for option in parameter.opts}
    for command in (head, *workers):
        assert command[:2] == ["ray", "start"]
        assert {option.partition("=")[0] for option in command[2:]} <= known


def test_a_served_model_is_asked_at_the_port_that_is_published() -> None:
    service = compose("compose.yaml")["services"]["labelspace"]
    told = dict(steps("Dockerfile"))
    assert service["ports"] == [f"127.0.0.1:8000:{told['EXPOSE']}"]
    assert f'"--port", "{told["EXPOSE"]}"' in told["CMD"]
    assert service["command"][:2] == ["serve", "/models/model"]
