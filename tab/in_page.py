"""What runs a page's cells, inside the page.

It travels in the archive as the module `in_page`. The worker calls `prepare` once and
`run` for each cell; cells share one namespace down the page, as in a notebook.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.abc
import importlib.machinery
import io
import os
import sys
import traceback
import types
from collections.abc import Callable, Sequence
from typing import Any

MOST = 200_000
"""Characters that one cell may print."""

NO_BUILD = ("matplotlib", "kubernetes", "numpy", "IPython")
"""Libraries whose names may be imported, and not used: there is no build of them for a tab."""


class TooMuchOutputError(Exception):
    """The cell prints without end."""


class NotInATabError(ImportError):
    """The cell used something of a library that a tab does not have."""


class _Absent(type):
    """A name of a library that is not here: good for annotations, and for nothing else."""

    def __getattr__(cls, name: str) -> Any:
        raise NotInATabError(f"{cls.__module__} has no build for a browser tab: the recorded picture stays")

    def __call__(cls, *args: Any, **named: Any) -> Any:
        raise NotInATabError(f"{cls.__module__} has no build for a browser tab: the recorded picture stays")


class _AbsentModule(types.ModuleType):
    __path__ = ()  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(name, (), {"__module__": self.__name__.partition(".")[0]})


class _AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Lets the figures' modules be imported; drawing says what is missing."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] in NO_BUILD:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _AbsentModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to run."""


class _Printer(io.TextIOBase):
    """Hands on what is printed, until it is too much."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._left = MOST

    def write(self, text: str) -> int:
        if self._left <= 0:
            raise TooMuchOutputError(f"stopped after {MOST:,} characters of output")
        self._emit(text[: self._left])
        self._left -= len(text)
        return len(text)


namespace: dict[str, Any] = {"__name__": "__main__"}


def prepare(folder: str = "/book") -> None:
    """Once, before the first cell."""
    os.chdir(folder)
    os.environ["LIFECYCLE_RECORDINGS"] = f"{folder}/recordings"
    sys.meta_path.append(_AbsentFinder())
    glue = types.ModuleType("myst_nb")
    setattr(glue, "glue", lambda name, variable, display=True: None)  # noqa: B010
    sys.modules["myst_nb"] = glue  # numbers for the text go into the text when the site is built


async def run(source: str, emit: Callable[[str], None]) -> dict[str, str]:
    """What a cell says. `emit` hears what is printed meanwhile.

    Returns `{}`, or `{"text"}`, `{"html"}`, `{"svg"}` for the value of a last expression, or `{"error"}`, with `"absent"` if it
    is only that a library is missing: later cells can do without a picture.
    """
    printer = _Printer(emit)
    with contextlib.redirect_stdout(printer), contextlib.redirect_stderr(printer):
        try:
            return _shown(await _value(source))
        except SystemExit as end:
            return {"error": f"SystemExit: {end.code}"}
        except NotInATabError as error:
            return {"error": str(error), "absent": "yes"}
        except BaseException as error:
            return {"error": _told(error)}


async def _value(source: str) -> Any:
    tree = ast.parse(source, "<cell>")
    end = tree.body[-1] if tree.body else None
    last = end.value if isinstance(end, ast.Expr) else None
    if last is not None:
        tree.body.pop()
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    if tree.body:
        done = eval(compile(tree, "<cell>", "exec", flags), namespace)
        if isinstance(done, types.CoroutineType):
            await done
    if last is None or source.rstrip().endswith(";"):
        return None
    value = eval(compile(ast.Expression(last), "<cell>", "eval", flags), namespace)
    return await value if isinstance(value, types.CoroutineType) else value


def _shown(value: Any) -> dict[str, str]:
    if value is None:
        return {}
    for kind in ("svg", "html"):
        method = getattr(value, f"_repr_{kind}_", None)
        if method is not None and not isinstance(value, type) and (shown := method()) is not None:
            return {kind: str(shown)}
    text = repr(value)
    return {"text": text if len(text) <= MOST else text[:MOST] + f"… ({len(text):,} characters)"}


def _told(error: BaseException) -> str:
    """The end of the story, from the cell on."""
    if isinstance(error, TooMuchOutputError | ImportError):
        return f"{type(error).__name__}: {error}"
    lines = traceback.TracebackException.from_exception(error)
    while lines.stack and lines.stack[0].filename != "<cell>":
        lines.stack.pop(0)
    return "".join(lines.format()).rstrip()
