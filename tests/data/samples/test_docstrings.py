"""Docstrings read from source."""

from __future__ import annotations

import sys

import pytest

from labelspace.data.samples.docstrings import (
    installed,
    package_docstrings,
    prose,
    see_also,
    standard_library,
)

NUMPYDOC = """
    Filter a signal.

    The signal is filtered along `axis`, see :func:`~scipy.signal.lfilter` [1]_.

    .. versionadded:: 1.0

    Parameters
    ----------
    x, y : array_like
        The data.
    axis : int, optional
        Where.

    Returns
    -------
    out : ndarray

    See Also
    --------
    scipy.signal.lfilter : One direction.
    sosfilt, :func:`filtfilt`
        Others.
    not a name : really.

    Notes
    -----
    Uses the **fast** transform.

    >>> skipped()

    References
    ----------
    .. [1] A book.
    """

GOOGLE = """Applies a linear map to the input.

    Args:
        size: how large
            it is

    Shape:
        - Input: anything

    Note:
        Weights are shared.

    Examples::

        >>> m = Linear(2)
    """


def test_prose_keeps_summary_description_and_notes():
    assert prose(NUMPYDOC) == (
        "Filter a signal. The signal is filtered along axis, see scipy.signal.lfilter . "
        "Uses the fast transform."
    )


def test_prose_leaves_out_the_blocks_of_google_style():
    assert prose(GOOGLE) == "Applies a linear map to the input. Note: Weights are shared."


@pytest.mark.parametrize(
    "docstring",
    [
        "sin(x, /, out=None)\n\nSine of x.",
        "long_call(x,\n          y=(1, 2))\n\nSine of x.",
        "dump(obj) -> None. Sine of x.",
        "Sine of x.\n\n:param x: the angle\n    in radians\n:return: a number",
    ],
)
def test_prose_leaves_out_signatures_and_fields(docstring):
    assert prose(docstring).startswith("Sine of x.") or prose(docstring).endswith("Sine of x.")
    assert "radians" not in prose(docstring)
    assert "number" not in prose(docstring)


def test_see_also_gives_bare_names():
    assert see_also(NUMPYDOC) == ["lfilter", "sosfilt", "filtfilt"]
    assert see_also("No section.") == []


def test_a_package_is_read_and_not_run(tmp_path, monkeypatch):
    package = tmp_path / "sidefx"
    (package / "tests").mkdir(parents=True)
    (package / "inner" / "_private").mkdir(parents=True)
    (package / "__init__.py").write_text('raise SystemExit("imported")\n"""doc"""\n')
    (package / "inner" / "_impl.py").write_text(
        'def public(a, *, axis=0, _b=1):\n    """Does it."""\n'
        'def _hidden():\n    """No."""\n'
        'class Kind:\n    """A kind."""\n'
        "    def __init__(self, size): pass\n"
        '    def method(self, other):\n        """A method."""\n'
        'add_newdoc("compiled", """compiled(x)\n\nFast.\n\nParameters\n----------\nx : int""")\n'
    )
    (package / "inner" / "broken.py").write_text('def (:\n"""')
    (package / "tests" / "test_it.py").write_text('def helper():\n    """No."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    found = {item.name: item for item in package_docstrings("sidefx")}
    assert list(found) == [
        "sidefx.inner.public",
        "sidefx.inner.Kind",
        "sidefx.inner.Kind.method",
        "sidefx.inner.compiled",
    ]
    assert found["sidefx.inner.public"].parameters == ("a", "axis")
    assert found["sidefx.inner.Kind"].parameters == ("size",)
    assert found["sidefx.inner.Kind"].is_class
    assert found["sidefx.inner.compiled"].parameters == ("x",)
    assert "sidefx" not in sys.modules


def test_compiled_functions_of_numpy_are_found():
    found = {item.name: item for item in package_docstrings("numpy")}
    assert "x1" in found["numpy.add"].parameters
    assert "loc" in found["numpy.random.Generator.normal"].parameters


def test_the_standard_library_is_found():
    names = {item.name for item in standard_library()}
    assert {"textwrap.fill", "json.dumps", "json.decoder.JSONDecoder"} <= names
    assert not any(name.startswith("test.") for name in names)


def test_packages_that_are_missing_are_passed_over():
    assert installed(["numpy", "no_such_package", "json"]) == ["numpy", "json"]
    assert list(package_docstrings("no_such_package")) == []
