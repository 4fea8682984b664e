from __future__ import annotations

from labelspace import store
from labelspace.deep.history import History


def test_numbers_are_found_by_name_and_the_first_of_the_best_records_wins():
    history = History()
    for epoch, quality in enumerate([50.0, 70.0, 70.0], 1):
        history.add({"epoch": epoch, "P@1": quality})
    history.add({"epoch": 4})
    assert history["P@1"] == [50.0, 70.0, 70.0]
    assert history.best("P@1")["epoch"] == 2
    assert len(history) == 4


def test_a_saved_history_does_not_tell_how_long_epochs_took(tmp_path):
    history = History([{"loss": 2.0, "seconds": 9.0, "cpu_seconds": 8.0}])
    store.save(history, tmp_path / "history")
    assert list(store.load(tmp_path / "history")) == [{"loss": 2.0}]
    assert history["seconds"] == [9.0]
