"""``--encoder`` on commands that use a model: the user's own encoder, given again."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from labelspace.cli.app import app
from labelspace.server.served import Served

OWN = "tests.data.text.encoding.fake_encoders:count_letters"
OTHER = "tests.cli.test_encoder:count_vowels"


def count_vowels(texts: list[str]) -> list[list[float]]:
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    lines = [f"a {word} {n}\t{word}" for n in range(8) for word in ("kernel", "forest", "spline")]
    (folder / "texts.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    told = "--method", "knn", "--out"
    assert run("train", folder / "texts.tsv", "--encoder", OWN, *told, folder / "m").exit_code == 0
    assert run("train", folder / "texts.tsv", *told, folder / "words").exit_code == 0
    return folder


def test_a_model_is_used_with_the_encoder_that_is_given_again(folder: Path) -> None:
    predicted = run("predict", folder / "m", "-", "-k", 1, "--encoder", OWN, text="a kernal\n")
    assert predicted.exit_code == 0, predicted.output
    assert predicted.stdout.startswith("kernel")
    evaluated = run("evaluate", folder / "m", folder / "texts.tsv", "--encoder", OWN)
    assert evaluated.exit_code == 0, evaluated.output
    assert Served.load(folder / "m", encoder=OWN).tagger.tag("a kernel")[0].name == "kernel"


@pytest.mark.parametrize(
    ("model", "encoder", "told"),
    [("m", None, "does not do unasked"), ("m", OTHER, "5"), ("words", OWN, "without an encoder")],
)
def test_no_encoder_another_or_one_too_many_is_refused_in_a_sentence(
    folder: Path, model: str, encoder: str | None, told: str
) -> None:
    given = [] if encoder is None else ["--encoder", encoder]
    refused = run("predict", folder / model, "-", *given, text="a kernel\n")
    assert refused.exit_code in (1, 2)
    assert told in " ".join(refused.output.split())
