"""The server as a process: it ends well, survives being killed, and follows its model folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger
from labelspace.server.learned_log import LearnedLog
from tests.server.running import TOKEN, Running, until
from tests.server.texts import tagged_texts


def test_sigterm_finishes_what_is_running(start: Any, folder: Path):
    server: Running = start(folder)
    line = json.dumps({"text": "roses and " * 50}).encode() + b"\n"
    n_lines = 4000
    head = (
        b"POST /v1/tag/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % (n_lines * len(line))
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(head + line * n_lines)
        received = connection.recv(65536)
        server.terminate()
        while block := connection.recv(1 << 20):
            received += block
    assert f'"line":{n_lines},'.encode() in received
    assert received.endswith(b"0\r\n\r\n")
    assert server.process.wait(30) in (0, -15)
    assert "Traceback" not in server.log.read_text()


def test_what_was_answered_for_survives_kill_9_at_any_moment(start: Any, folder: Path):
    learned = 0
    for n_rows in (5, 20):
        server: Running = start(folder, "--token", TOKEN)
        answered: list[int] = []

        def teach(server: Running = server, answered: list[int] = answered) -> None:
            for number in range(10_000):
                try:
                    status, _ = server.learn("onerror again", ["survivor", f"label {number}"])
                except (OSError, ValueError):
                    return
                assert status == 200
                answered.append(number)

        teacher = threading.Thread(target=teach)
        teacher.start()
        until(lambda answered=answered, n=n_rows: len(answered) >= n)
        server.kill()
        teacher.join()
        learned += len(answered)
        # One more may have been written than was answered for, never fewer.
        in_log = len(LearnedLog(folder).path.read_bytes().splitlines())
        assert in_log >= learned
        learned = in_log
    server = start(folder, "--token", TOKEN)
    assert server.ask("GET", "/v1/model")[1]["n_examples"] == 240 + learned
    assert server.tag("onerror again", k=1) == ["survivor"]


def test_a_killed_save_loses_nothing(start: Any, folder: Path):
    server: Running = start(folder, "--token", TOKEN)
    assert server.learn("onerror again", ["survivor"])[0] == 200
    server.terminate()  # saves the folder
    time.sleep(0.05)
    server.kill()
    again: Running = start(folder)
    assert "survivor" in again.tag("onerror again", k=5)
    assert again.ask("GET", "/v1/model")[1]["n_examples"] == 241


def test_an_updated_model_is_picked_up_without_a_dropped_request(
    start: Any, folder: Path, tmp_path: Path
):
    server: Running = start(folder, "--token", TOKEN)
    assert server.learn("learned through the api onerror", ["taught"])[0] == 200
    more = tmp_path / "more.tsv"
    more.write_text("onerror onerror\tupdated\n" * 30)
    answers: Counter[int] = Counter()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            answers[server.ask("POST", "/v1/tag", {"text": "onerror"})[0]] += 1
            time.sleep(0.01)

    with ThreadPoolExecutor(3) as pool:
        askers = [pool.submit(ask) for _ in range(3)]
        try:
            subprocess.run(
                [sys.executable, "-m", "labelspace", "update", str(folder), str(more)],
                check=True,
                capture_output=True,
            )
            until(lambda: server.tag("onerror", k=1) == ["updated"])
        finally:
            stop.set()
        for asker in askers:
            asker.result()
    assert set(answers) == {200}
    told = server.ask("GET", "/v1/model")[1]
    assert told["n_examples"] == 271
    assert server.ask("GET", "/v1/labels?q=taught")[1]["total"] == 1


def test_a_model_trained_anew_still_knows_what_was_taught(start: Any, folder: Path):
    server: Running = start(folder, "--token", TOKEN)
    assert server.learn("onerror onerror", ["taught"])[0] == 200
    texts, labels = tagged_texts(seed=1)
    Tagger("knn", n_neighbors=9).fit(texts, labels).save(folder)
    until(lambda: server.ask("GET", "/v1/model")[1]["parameters"]["n_neighbors"] == 9)
    assert server.ask("GET", "/v1/model")[1]["n_examples"] == 241


def test_a_damaged_replacement_is_not_taken(start: Any, folder: Path):
    server: Running = start(folder)
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text()[:-100])
    until(lambda: "was not taken" in server.log.read_text())
    assert server.tag("prune roses", k=1)
    lines = server.ask("GET", "/metrics")[1].decode().splitlines()
    assert "labelspace_model_load_failures_total 1.0" in lines


def test_overload_is_shed_and_passes(start: Any, folder: Path):
    server: Running = start(folder, "--queue", "1")
    stop = threading.Event()
    statuses: Counter[int] = Counter()
    headers: dict[str, str] = {}

    def ask() -> None:
        while not stop.is_set():
            status, told, sent = server.ask("POST", "/v1/tag", {"text": "roses " * 2000})
            statuses[status] += 1
            if status == 429:
                headers.update(sent)
                assert told["error"].endswith(".")

    with ThreadPoolExecutor(16) as pool:
        askers = [pool.submit(ask) for _ in range(16)]
        until(lambda: statuses[429] > 10 and statuses[200] > 10)
        stop.set()
        for asker in askers:
            asker.result()
    assert set(statuses) == {200, 429}
    assert headers["retry-after"] == "1"
    assert server.tag("roses", k=1)


def test_two_workers_answer_and_learn_as_one(start: Any, folder: Path):
    server: Running = start(folder, "--token", TOKEN, "--workers", "2")

    def numbers() -> list[int]:
        """Return what many requests say the number of a label is: either worker may answer."""
        told = [server.ask("GET", "/v1/labels?q=label+5")[1]["labels"] for _ in range(20)]
        return [found[0]["label"] if found else -1 for found in told]

    for number in range(6):
        status, told = server.learn("onerror again", [f"label {number}"])
        assert status == 200
        assert told["n_examples"] == 241 + number
    # The worker that was not taught learns at its next look; asked too soon it knows no such label.
    until(lambda: -1 not in numbers())
    assert len(set(numbers()) - {-1}) == 1  # both number new labels alike
    asked = sum(
        float(line.rpartition(" ")[2])
        for line in server.ask("GET", "/metrics")[1].decode().splitlines()
        if line.startswith('labelspace_requests_total{route="/v1/learn"')
    )
    assert asked == 6
    server.terminate()
    server.process.wait(60)
    # Whichever worker saved last, what it had not seen yet is in the log.
    assert start(folder, "--token", TOKEN).learn("one more", ["label 6"])[1]["n_examples"] == 247


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_worker_that_crashes_is_replaced_and_none_outlives_the_server(start: Any, folder: Path):
    server: Running = start(folder, "--token", TOKEN, "--workers", "2")
    until(lambda: len(workers_of(server)) == 2)
    assert server.learn("onerror again", ["survivor"])[0] == 200
    first, second = workers_of(server)
    os.kill(first, signal.SIGKILL)
    until(lambda: len(set(workers_of(server)) - {first}) == 2)
    until(lambda: "survivor" in server.tag("onerror again", k=5))  # at the other one's next look
    left = set(workers_of(server))
    assert second in left
    server.kill()
    until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in left))
    assert start(folder, "--token", TOKEN).learn("one more", ["b"])[1]["n_examples"] == 242


def workers_of(server: Running) -> list[int]:
    """Return the processes of a server that answer; one more keeps count of what they share."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    found = [int(child) for child in children.read_text().split()]
    return [one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def test_a_port_that_is_taken_and_a_folder_that_is_none_are_told(running: Running, tmp_path: Path):
    command = [sys.executable, "-m", "labelspace", "serve"]
    taken = subprocess.run(
        [*command, str(tmp_path), "--port", str(running.port)], capture_output=True, text=True
    )
    assert taken.returncode == 2
    assert "another --port" in taken.stderr
    missing = subprocess.run(
        [*command, str(tmp_path / "none"), "--port", "0"], capture_output=True, text=True
    )
    assert missing.returncode == 1
    assert "does not exist" in missing.stderr
    assert "Traceback" not in taken.stderr + missing.stderr


def test_a_short_token_is_refused(folder: Path):
    refused = subprocess.run(
        [sys.executable, "-m", "labelspace", "serve", str(folder), "--token", "abc"],
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "8 characters" in refused.stderr
