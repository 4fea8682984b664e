"""What GitHub runs for us: actions that cannot change under us, and targets that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_an_action_is_named_by_its_commit(workflow: Path) -> None:
    used = re.findall(r"uses: *(\S+)", workflow.read_text())
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []


def test_what_runs_once_a_week_are_targets_of_make() -> None:
    slow = PROJECT / ".github" / "workflows" / "slow.yml"
    targets = re.findall(r"- target: (\S+)", slow.read_text())
    assert set(targets) >= {"sanitise", "fuzz", "kill", "test"}
    known = re.findall(r"(?m)^(\w+):", (PROJECT / "Makefile").read_text())
    assert set(targets) <= set(known)
