"""The image and the compose file of a cluster, as far as they can be tried without Docker."""

from __future__ import annotations

import re

import pytest

from tests.conftest import PROJECT

DOCKER = PROJECT / "docker"
RECIPE = (DOCKER / "cluster.Dockerfile").read_text()


def test_everything_that_is_copied_is_there() -> None:
    copied = [
        name
        for line in RECIPE.splitlines()
        if line.startswith("COPY ") and "--from=" not in line
        for name in line.split()[1:-1]
        if not name.startswith("--")
    ]
    assert {"src", "pyproject.toml", "docker/warm_cluster.py"} <= set(copied)
    assert [name for name in copied if not (PROJECT / name).exists()] == []


def test_it_does_not_run_as_root_and_compiles_before_it_runs() -> None:
    users = [line.split()[1] for line in RECIPE.splitlines() if line.startswith("USER ")]
    assert users == ["labelspace"]
    assert RECIPE.index("USER labelspace") < RECIPE.index(
        "RUN python /home/labelspace/warm_cluster.py"
    )
    compile((DOCKER / "warm_cluster.py").read_text(), "warm_cluster.py", "exec")


def test_the_compose_file_has_a_head_and_two_workers_that_share_a_folder() -> None:
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((DOCKER / "cluster-compose.yaml").read_text())["services"]
    assert list(services) == ["head", "worker-1", "worker-2"]
    assert (DOCKER / services["head"]["build"]["context"] / "pyproject.toml").exists()
    built = services["head"]["build"]["dockerfile"]
    assert (DOCKER / services["head"]["build"]["context"] / built).exists()
    for service in services.values():
        assert service["volumes"] == ["./cluster:/cluster"]
        assert "RAY_AUTH_TOKEN" in service["environment"]
        assert service["image"] == "labelspace-cluster"
    port = re.search(r"--port=(\d+)", services["head"]["command"])
    assert port is not None
    for worker in ("worker-1", "worker-2"):
        assert f"--address=head:{port[1]}" in services[worker]["command"]
