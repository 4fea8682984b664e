"""The journal: what is written down is there again, whatever happened to the process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelspace.errors import LabelspaceError, UsageError
from labelspace.topk import TopK
from labelspace.tuning.journal import JOURNAL, Journal, Outcome
from labelspace.tuning.space import Configuration

TUNED = {"corpus": "abc", "methods": ["knn"], "metric": "P@5"}
KNN = Configuration("knn", {"power": 2.0}, {"char_ngrams": (3, 5)})
OUTCOME = Outcome(0, KNN, 1, 500, {"P@5": 30.0}, 2.5, 10.0)
ANSWER = TopK(np.array([[3, -1]]), np.array([[0.5, -np.inf]], dtype=np.float32))


def opened(folder: Path, **tuned: object) -> Journal:
    journal = Journal(folder, {**TUNED, **tuned})
    journal.close()
    return journal


def test_outcomes_and_answers_come_back(tmp_path: Path) -> None:
    first = opened(tmp_path / "tuned")
    first.add(OUTCOME, ANSWER)
    first.add_end({"budget": 60.0})
    again = opened(tmp_path / "tuned")
    assert again.find(KNN, 1) is again.outcomes[0]
    assert again.find(KNN, 0) is None
    assert again.outcomes[0].figures == {"P@5": 30.0}
    assert again.spent == 10.0
    assert again.end == {"budget": 60.0}
    answer = again.answer(again.outcomes[0])
    assert answer is not None
    np.testing.assert_array_equal(answer.labels, ANSWER.labels)
    np.testing.assert_array_equal(answer.scores, ANSWER.scores)


@pytest.mark.parametrize("n_bytes", [1, 20, 60])
def test_a_line_that_a_killed_process_left_is_cut_off(tmp_path: Path, n_bytes: int) -> None:
    first = opened(tmp_path)
    first.add(OUTCOME)
    path = tmp_path / JOURNAL
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines()[-1][:n_bytes])
    again = opened(tmp_path)
    assert len(again.outcomes) == 1
    again.add(OUTCOME)
    assert len(opened(tmp_path).outcomes) == 2


def test_a_first_line_that_was_not_finished_is_written_again(tmp_path: Path) -> None:
    opened(tmp_path)
    path = tmp_path / JOURNAL
    path.write_bytes(path.read_bytes()[:-5])
    assert opened(tmp_path).outcomes == []
    assert len(path.read_bytes().splitlines()) == 1


@pytest.mark.parametrize(
    ("changed", "what"),
    [({"corpus": "xyz"}, "another corpus"), ({"metric": "P@1"}, r"other metric \(P@5\)")],
)
def test_another_corpus_or_option_is_refused(tmp_path: Path, changed: dict, what: str) -> None:
    opened(tmp_path)
    with pytest.raises(UsageError, match=f"was begun with {what}.*: give the same again"):
        opened(tmp_path, **changed)


def test_a_journal_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.tuning.journal.__version__", "0.0.1")
    opened(tmp_path)
    monkeypatch.undo()
    with pytest.raises(UsageError, match=r"was begun with labelspace 0\.0\.1"):
        opened(tmp_path)


def test_other_peoples_folders_and_damaged_journals_are_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(UsageError, match="not of tuning"):
        opened(tmp_path)
    with pytest.raises(LabelspaceError, match="file"):
        opened(tmp_path / "thesis.txt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / JOURNAL).write_text("no json\nat all\n")
    with pytest.raises(UsageError, match="damaged"):
        opened(tmp_path / "other")


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    first = Journal(tmp_path, TUNED)
    with pytest.raises(UsageError, match="Another process is tuning"):
        Journal(tmp_path, TUNED)
    first.close()
    opened(tmp_path)


def test_without_a_folder_all_is_in_memory() -> None:
    journal = Journal(None, TUNED)
    journal.add(OUTCOME, ANSWER)
    assert journal.answer(OUTCOME) is ANSWER
