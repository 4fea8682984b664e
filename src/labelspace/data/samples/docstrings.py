"""Docstrings of installed packages, read from their source without importing them.

Sources are parsed with ``ast``, so that no package runs code. What numpy compiles has its
docstrings in the objects, and numpy is imported anyway. Both numpydoc sections and the ``Args:``
blocks of Google style are understood.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Folders and files whose docstrings are not for users.
_SKIPPED = {
    "tests", "test", "testing", "externals", "vendor", "idlelib", "lib2to3", "turtledemo",
    "ensurepip", "distutils", "conftest", "setup",
}  # fmt: skip
# Of packages whose larger part is internal, the modules that users know.
_PARTS = {
    "numba": ("core.decorators.", "cuda.", "experimental.", "np.", "stencils.", "typed."),
    "torch": (
        "_tensor_docs.", "_torch_docs.", "distributions.", "fft.", "functional.", "linalg.", "nn.",
        "optim.", "sparse.", "special.",
    ),
}  # fmt: skip
_GOOGLE_BLOCK = re.compile(
    r"(args|arguments|keyword arg\w*|parameters|params|returns?|yields?|raises|shape|inputs?|"
    r"outputs?|attributes|examples?|references?|see also)( \w+)?\s*::?$",
    re.IGNORECASE,
)
_FIELD_OR_CODE = re.compile(r"\.\. (code|math|\[|ipython|plot)|:\w+( [\w*, ]+)?:( |$)")
_KEPT_SECTIONS = {"", "notes"}


@dataclass(frozen=True)
class Docstring:
    """A documented function or class: where it is, what it takes, and its docstring."""

    name: str
    is_class: bool
    parameters: tuple[str, ...]
    text: str


def installed(packages: Iterable[str]) -> list[str]:
    """Return those of ``packages`` that are installed, in the same order."""
    return [name for name in packages if _folder(name) is not None]


def package_docstrings(name: str) -> Iterator[Docstring]:
    """Yield the public docstrings of an installed package, in the order of its files.

    >>> [found.name for found in package_docstrings("json")][:2]
    ['json.dump', 'json.dumps']
    """
    folder = _folder(name)
    for path in [] if folder is None else _sources(folder):
        inner = path.relative_to(folder).with_suffix("").parts if folder else ()
        if f"{'.'.join(inner)}.".startswith(_PARTS.get(name, "")):
            yield from _file_docstrings(path, _public((name, *inner)))
    if name == "numpy":
        yield from _compiled_numpy()


def standard_library() -> Iterator[Docstring]:
    """Yield the public docstrings of Python's own modules."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for module in sorted(sys.stdlib_module_names):
        if module.startswith("_") or module in _SKIPPED:
            continue
        if (root / f"{module}.py").is_file():
            yield from _file_docstrings(root / f"{module}.py", module)
        elif (root / module).is_dir():
            yield from package_docstrings(module)


def prose(docstring: str) -> str:
    """Return what a docstring says in sentences: summary, description and notes, on one line.

    Signatures, parameters, examples, references and markup are left out.

    >>> prose('''Return the `n` largest items.
    ...
    ... Parameters
    ... ----------
    ... n : int
    ...
    ... Notes
    ... -----
    ... Ties are :ref:`broken <ties>` by order.
    ... ''')
    'Return the n largest items. Ties are broken by order.'
    """
    kept = [text for title, text in _sections(docstring) if title in _KEPT_SECTIONS]
    lines = _without_signature("\n\n".join(kept)).splitlines()
    return _plain(" ".join(_without_blocks(lines)))


def see_also(docstring: str) -> list[str]:
    """Return the names in a numpydoc *See Also* section, without their modules.

    >>> see_also("Sine.\\n\\nSee Also\\n--------\\nnumpy.cos, tan\\narcsin : Inverse.")
    ['cos', 'tan', 'arcsin']
    """
    text = next((text for title, text in _sections(docstring) if title == "see also"), "")
    names = []
    for line in text.splitlines():
        if line[:1].isspace():
            continue
        plain = re.sub(r":\w+:(?=`)|[`~*]|\(\)", "", line)
        for entry in re.split(r"\s:|:$|: ", plain)[0].split(","):
            name = entry.strip().rpartition(".")[2]
            if name.isidentifier():
                names.append(name)
    return names


def _folder(package: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _sources(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*.py")
        if not _SKIPPED & {part.removesuffix(".py") for part in path.relative_to(folder).parts}
    )


def _public(parts: tuple[str, ...]) -> str:
    """Return the path that users import from: up to the first private part."""
    named = list(parts)
    for at, part in enumerate(parts):
        if part.startswith("_"):
            named = named[:at]
            break
    return ".".join(named)


def _file_docstrings(path: Path, module: str) -> Iterator[Docstring]:
    source = path.read_bytes()
    if b'"""' not in source and b"'''" not in source:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other people's backslashes
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _documented(node, module, _arguments(node))
        elif isinstance(node, ast.ClassDef):
            yield from _class_docstrings(node, module)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _added(node.value, module)


def _class_docstrings(node: ast.ClassDef, module: str) -> Iterator[Docstring]:
    if node.name.startswith("_"):
        return
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
    made_by = next((method for method in methods if method.name == "__init__"), None)
    yield from _documented(node, module, () if made_by is None else _arguments(made_by))
    for method in methods:
        yield from _documented(method, f"{module}.{node.name}", _arguments(method))


def _documented(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
    inside: str,
    parameters: tuple[str, ...],
) -> Iterator[Docstring]:
    text = ast.get_docstring(node)
    if text and not node.name.startswith("_"):
        is_class = isinstance(node, ast.ClassDef)
        yield Docstring(f"{inside}.{node.name}", is_class, parameters, text)


def _added(call: ast.Call, module: str) -> Iterator[Docstring]:
    """Yield what ``add_newdoc("name", "docs")`` documents: functions that are compiled."""
    named = getattr(call.func, "id", getattr(call.func, "attr", ""))
    if named not in ("add_newdoc", "add_docstr"):
        return
    strings = [
        part.value
        for argument in call.args
        for part in ast.walk(argument)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    if named == "add_docstr" and call.args:
        strings.insert(0, ast.unparse(call.args[0]))
    name = strings[-2].rpartition(".")[2] if len(strings) > 1 else ""
    if name.isidentifier() and not name.startswith("_"):
        text = inspect.cleandoc(strings[-1])
        yield Docstring(f"{module}.{name}", False, _described_parameters(text), text)


def _compiled_numpy() -> Iterator[Docstring]:
    import numpy

    ufuncs = {name: item for name, item in vars(numpy).items() if isinstance(item, numpy.ufunc)}
    groups = {"numpy": ufuncs, "numpy.random.Generator": vars(numpy.random.Generator)}
    for inside, members in groups.items():
        for name, item in sorted(members.items()):
            text = inspect.cleandoc(getattr(item, "__doc__", None) or "")
            if text and not name.startswith("_"):
                yield Docstring(f"{inside}.{name}", False, _described_parameters(text), text)


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    given = node.args
    names = [item.arg for item in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return tuple(name for name in names if name not in ("self", "cls") and name[0] != "_")


def _described_parameters(text: str) -> tuple[str, ...]:
    body = next((text for title, text in _sections(text) if title == "parameters"), "")
    heads = re.findall(r"^(\w[\w, ]*?)\s*(?::|$)", body, re.MULTILINE)
    names = [name.strip() for head in heads for name in head.split(",")]
    return tuple(name for name in names if name.isidentifier() and name[0] != "_")


def _sections(docstring: str) -> list[tuple[str, str]]:
    """Cut a numpydoc docstring at its underlined titles; the part before them has the title ''."""
    lines = inspect.cleandoc(docstring).splitlines()
    sections: list[tuple[str, list[str]]] = [("", [])]
    at = 0
    while at < len(lines):
        if (
            at + 1 < len(lines)
            and lines[at].strip()
            and re.fullmatch(r"\s*[-=]{3,}", lines[at + 1])
        ):
            sections.append((lines[at].strip().lower().rstrip(":"), []))
            at += 2
        else:
            sections[-1][1].append(lines[at])
            at += 1
    return [(title, "\n".join(body)) for title, body in sections]


def _without_signature(text: str) -> str:
    """Leave out the call that opens the docstrings of compiled functions."""
    first, blank, rest = text.partition("\n\n")
    if re.fullmatch(r"\w[\w.]*\(.*\)\s*(->\s*\S+)?", first, re.DOTALL):
        return rest
    return re.sub(r"^\w[\w.]*\([^()]*\)\s*(->[^.:]*)?[\s:.-]*", "", first) + blank + rest


def _without_blocks(lines: list[str]) -> Iterator[str]:
    """Leave out examples, fields and directives, and the indented blocks of Google style."""
    skipped_indent: int | None = None
    for line in lines:
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if skipped_indent is not None and (not stripped or indent > skipped_indent):
            continue
        skipped_indent = None
        if _GOOGLE_BLOCK.match(stripped) or _FIELD_OR_CODE.match(stripped):
            skipped_indent = indent
        elif not re.match(r">>>|\.\.\.|\.\. |@\w", stripped):
            yield stripped


def _plain(text: str) -> str:
    text = re.sub(r":[a-z:]+:`~?([^`<]*?)\s*(<[^>`]*>)?`", r"\1", text)
    text = re.sub(r"%\(\w+\)s|\[\w{1,8}\]_|[`*|]", "", text)
    return re.sub(r"\s+", " ", text).strip()
