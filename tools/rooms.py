"""Check the floor plan: who uses which module, how long things are, and what they are called.

What one method alone uses lives in that method's folder; a shared part is what two methods use, or
a method and the application around it. Modules have at most 350 lines, functions 60 (kernels
aside), constructors 16 parameters, and a name means one thing in the whole house.

    python tools/rooms.py [src/labelspace]

reads the source without importing it and prints one line for each finding; exit 1 if there is any.
What is allowed nevertheless stands in the tables below, each with its reason, and a line in a table
that no longer names anything is a finding too.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGE = "labelspace"
MOST_LINES = 350
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 16

# Folders of ``models`` whose files are a method each; all others are one method.
FILES_ARE_METHODS = ("models.baselines",)
# What stands beside ``models`` but is a method, too.
METHODS_ELSEWHERE = ("manifold",)
# Where the program begins: what these reach serves more than a method.
APPLICATION = (
    "",
    "__main__",
    "cli",
    "server",
    "tagger",
    "data",
    "plots",
    "label_map",
    "engine",
    "model_selection",
)

# Files that several folders have, each for its own method or part.
NAMES_IN_EACH_FOLDER = ("model", "settings", "learners", "task", "losses", "training")

# Modules outside ``models`` that one method alone reaches, or none.
ONE_METHOD = {
    "linear.incremental": "linear/ has the solvers of linear classifiers, whoever asks",
    "linear.sampled_hinge": "linear/ has the solvers of linear classifiers, whoever asks",
    "search.self_join": "search/ has the ways to search, whoever asks",
    "spaces.euclidean": "public geometry, as a whole",
    "spaces.poincare": "public geometry, as a whole",
}
# Modules and classes of one name for several things, and why nobody takes them for each other.
_VERB = "the verb on the command line, and what it calls"
REPEATED_MODULES = {
    "app": "what is started: the command line, and the service",
    "demo": _VERB,
    "info": _VERB,
    "metrics": "what answers are worth, and what Prometheus calls what a service counts",
}
REPEATED_CLASSES: dict[str, str] = {}
LONG_MODULES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
WIDE_CONSTRUCTORS: dict[str, str] = {}

Findings = Iterator[tuple[str, str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """A source file: its name below the package, its text as a tree, and its length."""

    name: str
    path: Path
    tree: ast.Module
    n_lines: int

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def is_kernels(self) -> bool:
        stem = self.path.stem
        return stem.startswith("_") and stem.endswith("kernels")

    @property
    def last_name(self) -> str:
        return self.name.rpartition(".")[2]


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).parent.parent / "src" / "labelspace"
    found = findings(read(root))
    for line in found:
        sys.stdout.write(f"{line}\n")
    return 1 if found else 0


def read(root: Path) -> dict[str, Module]:
    """Return the modules below a package's folder by their names, such as ``graph.tree``."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, path, ast.parse(text), text.count("\n"))
    return modules


def findings(modules: dict[str, Module]) -> list[str]:
    """Return all that is wrong, a sentence each."""
    return [
        *_allowed(lonely_modules(modules), ONE_METHOD, "ONE_METHOD"),
        *_allowed(long_modules(modules), LONG_MODULES, "LONG_MODULES"),
        *_allowed(long_functions(modules), LONG_FUNCTIONS, "LONG_FUNCTIONS"),
        *_allowed(wide_constructors(modules), WIDE_CONSTRUCTORS, "WIDE_CONSTRUCTORS"),
        *_allowed(repeated_modules(modules), REPEATED_MODULES, "REPEATED_MODULES"),
        *_allowed(repeated_classes(modules), REPEATED_CLASSES, "REPEATED_CLASSES"),
    ]


def lonely_modules(modules: dict[str, Module]) -> Findings:
    """Find modules outside ``models`` that one method alone reaches, or nobody."""
    imports = {name: imported(module, modules) for name, module in modules.items()}
    application = {name for name in modules if name.split(".")[0] in APPLICATION}
    served = _reached(application, imports, through_methods=False)
    users: dict[str, set[str]] = defaultdict(set)
    for method, own in _methods(modules).items():
        for name in _reached(own, imports):
            users[name].add(method)
    for name, module in modules.items():
        if name in served or _method_of(name) or module.is_package or len(users[name]) > 1:
            continue
        if module.is_kernels and _has_caller_beside(name, imports):
            continue  # it goes where its caller goes
        if users[name]:
            yield name, f"only {min(users[name])} uses it: it belongs there"
        else:
            yield name, "nobody uses it"


def long_modules(modules: dict[str, Module]) -> Findings:
    """Find modules with too many lines."""
    for name, module in modules.items():
        if module.n_lines > MOST_LINES:
            yield name, f"{module.n_lines} lines, more than {MOST_LINES}"


def long_functions(modules: dict[str, Module]) -> Findings:
    """Find functions with too many lines, from the name to the last."""
    for module in modules.values():
        if module.is_kernels:
            continue
        for where, function in _functions(module):
            length = (function.end_lineno or 0) - function.lineno + 1
            if length > MOST_FUNCTION_LINES:
                yield where, f"{length} lines, more than {MOST_FUNCTION_LINES}"


def wide_constructors(modules: dict[str, Module]) -> Findings:
    """Find constructors with too many parameters."""
    for module in modules.values():
        for where, function in _functions(module):
            arguments = function.args
            count = len(arguments.posonlyargs + arguments.args + arguments.kwonlyargs) - 1
            if function.name == "__init__" and count > MOST_PARAMETERS:
                yield where, f"{count} parameters, more than {MOST_PARAMETERS}"


def repeated_modules(modules: dict[str, Module]) -> Findings:
    """Find module names that stand for several things; kernels are named as their caller is."""
    places = defaultdict(list)
    for name, module in modules.items():
        named_by_folder = module.is_kernels or module.last_name in NAMES_IN_EACH_FOLDER
        if not module.is_package and not named_by_folder:
            places[module.last_name].append(name)
    yield from _repeated(places)


def repeated_classes(modules: dict[str, Module]) -> Findings:
    """Find class names that stand for several things."""
    places = defaultdict(list)
    for name, module in modules.items():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(name)
    yield from _repeated(places)


def imported(module: Module, modules: dict[str, Module]) -> set[str]:
    """Return the modules of the package that a module imports when it runs, wherever in it."""
    found: set[str] = set()
    for node in _running(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if _own_name(inner) in modules else node.module)
    names = (_own_name(dotted) for dotted in found)
    return {name for name in names if name is not None and name in modules}


def _own_name(dotted: str) -> str | None:
    """Return a module's name below the package, or None if it is not in it."""
    head, _, rest = dotted.partition(".")
    return rest if head == PACKAGE else None


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        yield child
        yield from _running(child)


def _method_of(name: str) -> str:
    """Return the method that a module belongs to, or nothing."""
    parts = name.split(".")
    if parts[0] in METHODS_ELSEWHERE:
        return parts[0]
    if parts[0] != "models" or len(parts) < 2:
        return ""
    depth = 3 if ".".join(parts[:2]) in FILES_ARE_METHODS else 2
    return ".".join(parts[:depth])


def _methods(modules: dict[str, Module]) -> dict[str, set[str]]:
    """Return the modules of each method."""
    methods: dict[str, set[str]] = defaultdict(set)
    for name in modules:
        if method := _method_of(name):
            methods[method].add(name)
    return methods


def _reached(
    start: Iterable[str], imports: dict[str, set[str]], *, through_methods: bool = True
) -> set[str]:
    """Return all modules that some reach; the application knows methods by their names only."""
    reached: set[str] = set()
    ahead = list(start)
    while ahead:
        name = ahead.pop()
        if name in reached or (_method_of(name) and not through_methods):
            continue
        reached.add(name)
        ahead.extend(imports[name])
    return reached


def _has_caller_beside(name: str, imports: dict[str, set[str]]) -> bool:
    folder = name.rpartition(".")[0]
    return any(
        name in found and other.rpartition(".")[0] == folder for other, found in imports.items()
    )


def _functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Return functions and methods with where they are, as in ``graph.tree:Tree.children``."""

    def inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{module.name}:{prefix}{child.name}", child
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from inside(child, f"{prefix}{child.name}.")
            else:
                yield from inside(child, prefix)

    yield from inside(module.tree, "")


def _repeated(places: dict[str, list[str]]) -> Findings:
    for name, found in places.items():
        if len(found) > 1:
            yield name, f"the name stands for {len(found)} things: {', '.join(sorted(found))}"


def _allowed(found: Findings, table: dict[str, str], title: str) -> Iterator[str]:
    """Drop what a table allows; say which of its lines allow nothing."""
    unused = set(table)
    for name, trouble in found:
        if name in table:
            unused.discard(name)
        else:
            yield f"{name}: {trouble}"
    for name in sorted(unused):
        yield f"{name}: nothing to allow any more, take it out of {title}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
