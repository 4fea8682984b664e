"""The API does what its own description says, for whatever is sent.

schemathesis makes requests up from the OpenAPI file, right ones and wrong ones, and looks for
answers that are not described there, and for any 5xx. A few per route run always, thousands with
``--slow``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from labelspace import Tagger
from tests.server.running import TOKEN, Running

FEW, MANY = 20, 400
ROUTES = [
    ("POST", "/v1/tag"),
    ("POST", "/v1/tag/batch"),
    ("POST", "/v1/table"),
    ("POST", "/v1/workbook"),
    ("POST", "/v1/learn"),
    ("GET", "/v1/lessons"),
    ("GET", "/v1/review"),
    ("POST", "/v1/review"),
    ("GET", "/v1/review/{queue}"),
    ("POST", "/v1/review/{queue}/marks"),
    ("GET", "/v1/review/{queue}/rows"),
    ("DELETE", "/v1/review/{queue}"),
    ("POST", "/v1/lessons/undo"),
    ("GET", "/v1/labels"),
    ("GET", "/v1/map"),
    ("GET", "/v1/model"),
    ("GET", "/v1/models"),
    ("GET", "/v1/projects"),
    ("GET", "/v1/projects/{project_id}"),
    ("POST", "/v1/projects/{project_id}/suggest"),
    ("POST", "/v1/projects/{project_id}/suggest-batch"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]
# Routes without body and parameters cannot be asked wrongly.
PLAIN = (
    "/v1/lessons",
    "/v1/lessons/undo",
    "/v1/review",
    "/v1/review/{queue}",
    "/v1/review/{queue}/rows",
    "/v1/model",
    "/v1/models",
    "/v1/projects",
    "/v1/projects/{project_id}",
    "/healthz",
    "/readyz",
    "/metrics",
)
KINDS = [
    (method, path, mode)
    for method, path in ROUTES
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or path not in PLAIN
]


@schemathesis.serializer("application/x-ndjson")
def ndjson(context: Any, value: Any) -> bytes:
    """Send a body of JSON lines as it is."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")


@pytest.fixture(scope="session")
def fuzzed(trained: Tagger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server of its own: what is learned here would disturb other tests."""
    folder = tmp_path_factory.mktemp("fuzzed") / "model"
    trained.save(folder)
    server = Running(folder, "--token", TOKEN)
    yield server
    is_alive = server.process.poll() is None
    server.kill()
    assert is_alive
    assert "Traceback" not in server.log.read_text()


@pytest.fixture(scope="session")
def api(fuzzed: Running) -> Any:
    return schemathesis.openapi.from_url(fuzzed.address + "/openapi.json")


@pytest.mark.parametrize(("method", "path", "mode"), KINDS)
def test_answers_are_as_described(api: Any, method: str, path: str, mode: GenerationMode):
    ask_many(api[path][method], mode, settings(max_examples=FEW, derandomize=True, database=None))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "path", "mode"), KINDS)
def test_thousands_of_answers_are_as_described(
    api: Any, method: str, path: str, mode: GenerationMode
):
    ask_many(api[path][method], mode, settings(max_examples=MANY, database=None))


def ask_many(operation: Any, mode: GenerationMode, how: settings) -> None:
    """Send requests that are made up, right or wrong ones, and look at the answers."""
    cases = operation.as_strategy(generation_mode=mode)
    # Every body of JSON lines is a string, and every string is answered line by line.
    takes_all = operation.path in ("/v1/tag/batch", "/v1/table", "/v1/workbook")
    excluded = [schemathesis.checks.negative_data_rejection] if takes_all else []
    # A string need not be such lines, or a file, or a language that the model has names in.
    if operation.path in ("/v1/table", "/v1/workbook") or "suggest" in operation.path:
        excluded.append(schemathesis.checks.positive_data_acceptance)

    @settings(how, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases)
    def ask(case: Any) -> None:
        answer = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code < 500, answer.text
        case.validate_response(answer, excluded_checks=excluded)

    ask()


def test_every_route_is_described_with_an_example_or_parameters(running: Running):
    told = running.ask("GET", "/openapi.json")[1]
    assert set(told["paths"]) == {path for _, path in ROUTES}
    for path in ("/v1/tag", "/v1/tag/batch", "/v1/table", "/v1/workbook", "/v1/learn"):
        for content in told["paths"][path]["post"]["requestBody"]["content"].values():
            assert content["examples"]


def test_the_examples_work(running: Running):
    told = running.ask("GET", "/openapi.json")[1]
    body = told["paths"]["/v1/tag"]["post"]["requestBody"]["content"]["application/json"]
    for example in body["examples"].values():
        assert running.ask("POST", "/v1/tag", example["value"])[0] == 200
