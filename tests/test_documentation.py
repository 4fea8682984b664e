"""Runs the Python examples of the README and the documentation, and checks the commands there.

Examples of one page share their names and a scratch folder, as a reader would run them in turn.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.data.text.encoding import fake_encoders

PROJECT = Path(__file__).resolve().parent.parent
PAGES = sorted([PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")])
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def fenced(page: Path, language: str) -> list[str]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [code for _, kind, code in found if kind == language]


def named(page: Path) -> str:
    return str(page.relative_to(PROJECT))


WITH_PYTHON = [page for page in PAGES if fenced(page, "python")]
ENCODERS = {
    "fastembed": fake_encoders.TextEmbedding,
    "model2vec": fake_encoders.StaticModel,
    "sentence_transformers": fake_encoders.SentenceTransformer,
}
COMMANDS = [
    (page, part.strip())
    for page in PAGES
    for block in fenced(page, "console")
    for line in block.splitlines()
    for part in line.split("|")
    if re.match(r"^(\$ )?\s*labelspace ", part.strip())
]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=named)
def test_python_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, fake in ENCODERS.items():  # their weights would have to be downloaded
        module = ModuleType(name)
        setattr(module, fake.__name__, fake)
        monkeypatch.setitem(sys.modules, name, module)
    # A module of its own, so that classes defined in an example know where they live.
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    for code in fenced(page, "python"):
        exec(compile(code, named(page), "exec"), vars(module))


@pytest.mark.parametrize(
    ("page", "command"), COMMANDS, ids=[f"{named(page)}: {line}" for page, line in COMMANDS]
)
def test_commands_and_their_options_exist(page, command):
    verb, *arguments = shlex.split(command.removeprefix("$ "), comments=True)[1:]
    if verb.startswith("--"):
        return
    verbs = options_by_verb()
    assert verb in verbs, f"{named(page)} shows the command '{verb}'"
    for option in arguments:
        if option.startswith("-") and option != "-":
            assert option.split("=")[0] in verbs[verb], f"{named(page)} shows {verb} {option}"


def options_by_verb() -> dict[str, set[str]]:
    import typer.main

    from labelspace.cli.app import app

    commands = typer.main.get_command(app).commands
    return {
        verb: {option for parameter in command.params for option in parameter.opts} | {"--help"}
        for verb, command in commands.items()
    }


NAMED_TESTS = sorted(
    {
        (page, found[1], found[2])
        for page in PAGES
        for found in re.finditer(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text("utf-8"))
    },
    key=str,
)


@pytest.mark.parametrize(("page", "file", "test"), NAMED_TESTS, ids=str)
def test_a_test_that_is_named_is_there(page: Path, file: str, test: str | None) -> None:
    content = (PROJECT / file).read_text("utf-8")
    assert test is None or re.search(rf"(?m)^def {test}\(", content)
