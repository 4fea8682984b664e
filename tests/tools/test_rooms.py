"""The floor plan's checks notice what they are there for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import rooms


@pytest.fixture
def house(tmp_path):
    """Return a function that writes files below a package and says what is found there."""

    def build(files: dict[str, str]) -> list[str]:
        for name, text in {"__init__.py": "", **files}.items():
            path = tmp_path / "labelspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return rooms.findings(rooms.read(tmp_path / "labelspace"))

    return build


@pytest.fixture(autouse=True)
def no_exceptions(monkeypatch):
    for table in (
        "ONE_METHOD",
        "REPEATED_MODULES",
        "REPEATED_CLASSES",
        "LONG_MODULES",
        "LONG_FUNCTIONS",
        "WIDE_CONSTRUCTORS",
    ):
        monkeypatch.setattr(rooms, table, {})


USES = "from labelspace.graph.tree import Tree\n"


def test_a_part_of_one_method_is_noticed(house):
    found = house({"models/glas/model.py": USES, "graph/tree.py": ""})
    assert found == ["graph.tree: only models.glas uses it: it belongs there"]


def test_a_part_of_two_methods_is_shared(house):
    files = {"models/glas/model.py": USES, "models/dxml/model.py": USES, "graph/tree.py": ""}
    assert house(files) == []


def test_two_files_of_one_method_are_one_user(house):
    files = {"models/glas/model.py": USES, "models/glas/other.py": USES, "graph/tree.py": ""}
    assert len(house(files)) == 1


def test_two_baselines_are_two_users(house):
    files = {"models/baselines/knn.py": USES, "models/baselines/ova.py": USES, "graph/tree.py": ""}
    assert house(files) == []


def test_manifold_is_a_method(house):
    found = house({"manifold/smce.py": USES, "graph/tree.py": ""})
    assert found == ["graph.tree: only manifold uses it: it belongs there"]


def test_use_through_another_part_counts(house):
    found = house(
        {
            "models/glas/model.py": "from labelspace.search import beam\n",
            "models/dxml/model.py": "import labelspace.search.beam\n",
            "search/beam.py": USES,
            "graph/tree.py": "",
        }
    )
    assert found == []


def test_imports_for_type_checkers_do_not_count(house):
    found = house(
        {
            "models/glas/model.py": USES,
            "models/dxml/model.py": f"if TYPE_CHECKING:\n    {USES}",
            "graph/tree.py": "",
        }
    )
    assert found == ["graph.tree: only models.glas uses it: it belongs there"]


def test_imports_inside_functions_count(house):
    files = {"models/glas/model.py": USES, "graph/tree.py": ""}
    assert house({**files, "models/dxml/model.py": f"def fit():\n    {USES}"}) == []


def test_what_the_application_uses_is_shared_but_not_what_it_has_a_method_for(house):
    files = {
        "tagger.py": f"{USES}from labelspace.models.glas import model\n",
        "models/glas/model.py": "from labelspace.graph import tree, spectral\n",
        "graph/tree.py": "",
        "graph/spectral.py": "",
    }
    assert house(files) == ["graph.spectral: only models.glas uses it: it belongs there"]


def test_a_part_that_nobody_uses_is_noticed(house):
    assert house({"graph/tree.py": ""}) == ["graph.tree: nobody uses it"]


def test_kernels_go_where_their_caller_goes(house):
    found = house(
        {
            "models/glas/model.py": USES,
            "graph/tree.py": "from labelspace.graph import _tree_kernels\n",
            "graph/_tree_kernels.py": "",
        }
    )
    assert found == ["graph.tree: only models.glas uses it: it belongs there"]


def test_long_modules_are_noticed(house):
    assert house({"cli/app.py": "x = 1\n" * 350}) == []
    assert house({"cli/app.py": "x = 1\n" * 351}) == ["cli.app: 351 lines, more than 350"]


def function(n_lines: int) -> str:
    return "def f():\n" + "    x = 1\n" * (n_lines - 1)


def test_long_functions_are_noticed_but_not_in_kernels(house):
    assert house({"cli/app.py": function(60), "cli/_app_kernels.py": function(61)}) == []
    assert house({"cli/app.py": function(61)}) == ["cli.app:f: 61 lines, more than 60"]


def constructor(n_parameters: int) -> str:
    names = ", ".join(f"p{number}" for number in range(n_parameters))
    return f"class A:\n    def __init__(self, *, {names}):\n        pass\n"


def test_wide_constructors_are_noticed(house):
    assert house({"cli/app.py": constructor(16)}) == []
    found = house({"cli/app.py": constructor(17)})
    assert found == ["cli.app:A.__init__: 17 parameters, more than 16"]


def test_two_modules_of_one_name_are_noticed(house):
    found = house({"cli/info.py": "", "server/info.py": ""})
    assert found == ["info: the name stands for 2 things: cli.info, server.info"]


def test_each_method_has_its_model(house):
    assert house({"models/glas/model.py": "", "models/dxml/model.py": ""}) == []


def test_two_classes_of_one_name_are_noticed(house):
    found = house({"cli/app.py": "class Step: ...\n", "server/run.py": "class Step: ...\n"})
    assert found == ["Step: the name stands for 2 things: cli.app, server.run"]


def test_a_reason_allows_and_must_have_something_to_allow(house, monkeypatch):
    monkeypatch.setattr(rooms, "ONE_METHOD", {"graph.tree": "because"})
    assert house({"models/glas/model.py": USES, "graph/tree.py": ""}) == []
    found = house({"models/dxml/model.py": USES})
    assert found == ["graph.tree: nothing to allow any more, take it out of ONE_METHOD"]


def test_findings_fail_the_run_and_are_printed(tmp_path, capsys):
    package = tmp_path / "labelspace"
    package.mkdir()
    (package / "lonely.py").write_text("")
    assert rooms.main([str(package)]) == 1
    assert capsys.readouterr().out == "lonely: nobody uses it\n"
    (package / "lonely.py").rename(package / "tagger.py")
    assert rooms.main([str(package)]) == 0


def test_our_source_is_read_without_being_imported():
    modules = rooms.read(Path(__file__).parents[2] / "src" / "labelspace")
    assert "base" in modules
    assert "topk" in rooms.imported(modules["base"], modules)
