"""What runs a page's cells, inside the page.

It travels in the archive as the module `in_page`. The worker calls `prepare` once and
`run` for each cell; cells share one namespace down the page, as in a notebook.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import errno
import gc
import importlib
import importlib.abc
import importlib.machinery
import io
import os
import random
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

MOST = 200_000
"""Characters that one cell may print."""

MOST_DRAWN = 2_000_000
"""Characters of one picture or table."""

NO_BUILD = ("matplotlib", "kubernetes", "numpy", "IPython")
"""Libraries whose names may be imported, and not used: there is no build of them for a tab."""

COMPILED = ("aiohttp", "cel_expr_python", "cryptography", "google", "grpc", "nacl", "re2", "yarl")
"""More of them, which the package does without: to import one is to miss it."""


SOCKETS = ("create_connection", "create_datagram_endpoint", "create_server", "create_unix_server")
"""What no loop of a page does."""

NO_THREAD = ("can't start new thread", "cannot join thread before it is started")
NO_CEL = "cel-expr-python is not installed"
NO_LIBRARY = re.compile("this needs the Python library ([a-z0-9_]+), which is not here")
"""What is said by those who miss them."""


class TooMuchOutputError(Exception):
    """The cell prints without end."""


class NotInATabError(ImportError):
    """The cell used something of a library that a tab does not have. `name` says which."""


class _Absent(type):
    """A name of a library that is not here: good for annotations, and for nothing else."""

    def __getattr__(cls, name: str) -> Any:
        raise NotInATabError(f"{cls.__module__} has no build for a browser tab", name=cls.__module__)

    def __call__(cls, *args: Any, **named: Any) -> Any:
        raise NotInATabError(f"{cls.__module__} has no build for a browser tab", name=cls.__module__)


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
lost: set[str] = set()
"""What cells would have made that needed what no tab has."""

USED_BY_MOST = (
    "lifecycle.cluster.command_line",
    "lifecycle.cluster.rehearsal",
    "lifecycle.figures.moments",
    "lifecycle.figures.rollout",
    "lifecycle.inspector",
    "lifecycle.playground.playground",
    "unittest.mock",
)
"""What cells and the playground import before they do anything else."""


def prepare(folder: str = "/book") -> None:
    """Once, before the first cell."""
    os.chdir(folder)
    os.environ["LIFECYCLE_RECORDINGS"] = f"{folder}/recordings"
    sys.meta_path.append(_AbsentFinder())
    glue = types.ModuleType("myst_nb")
    setattr(glue, "glue", lambda name, variable, display=True: None)  # noqa: B010
    sys.modules["myst_nb"] = glue  # numbers for the text go into the text when the site is built


def warm() -> None:
    """What every page would do first, done once: import, and let a cluster start. A page may keep the memory of this
    Python then, and begin from it next time.
    """
    for name in USED_BY_MOST:
        importlib.import_module(name)
    from lifecycle.cluster.command_line import type_line
    from lifecycle.cluster.rehearsal import rehearse

    async def scene(cluster: Any) -> None:
        await type_line("create deployment nginx --image=nginx", cluster.client("reader").transport)
        await asyncio.sleep(10)

    rehearse(scene)
    gc.collect()
    gc.freeze()  # nothing of this becomes garbage, so nobody need look


def resume(folder: str = "/book") -> None:
    """In a Python that begins from kept memory: the folder one is in, and chance, are not a matter of memory."""
    os.chdir(folder)
    random.seed()


async def run(source: str, emit: Callable[[str], None]) -> dict[str, str]:
    """What a cell says. `emit` hears what is printed meanwhile.

    Returns `{}`, or `{"text"}`, `{"html"}`, `{"svg"}` for the value of a last expression, or `{"error"}`; or, if the cell needs
    what no tab has, `{"absent", "about"}`: one of the reasons in `book/_ext/live_words.py`, and the name that goes into it.
    """
    printer, before = _Printer(emit), dict(namespace)
    with contextlib.redirect_stdout(printer), contextlib.redirect_stderr(printer):
        try:
            return _shown(await _value(source))
        except SystemExit as end:
            return {"error": f"SystemExit: {end.code}"}
        except BaseException as error:
            if missing := not_in_a_tab(error):
                _lose(source, before)
                return {"absent": missing[0], "about": missing[1]}
            return {"error": _told(error)}


def not_in_a_tab(error: BaseException) -> tuple[str, str] | None:
    """Why this cannot work in any tab, if that is why it went wrong: a reason, and the name that goes into it."""
    for each in behind(error):
        if isinstance(each, NameError) and each.name in lost:
            return "before", str(each.name)
        if isinstance(each, ImportError) and each.name:
            library = each.name.partition(".")[0]
            if library in (*NO_BUILD, *COMPILED):
                return "library", library
        if isinstance(each, RuntimeError) and any(words in str(each) for words in NO_THREAD):
            return "thread", ""
        if isinstance(each, OSError) and each.errno == errno.EOPNOTSUPP:
            return "socket", ""
        if isinstance(each, NotImplementedError) and _raised_by(each) in SOCKETS:
            return "socket", ""
        if isinstance(each, FileNotFoundError) and str(each.filename).startswith(("/proc/", "/sys/")):
            return "linux", str(each.filename)
        if NO_CEL in str(each):
            return "library", "cel_expr_python"
        if told := NO_LIBRARY.search(str(each)):
            return "library", told[1]
    return None


def behind(error: BaseException | None) -> Iterator[BaseException]:
    """An error, those that it groups, and those that led to it."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for part in error.exceptions:
                yield from behind(part)
        error = error.__cause__ or error.__context__


def _raised_by(error: BaseException) -> str:
    """The name of the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    return frames[-1].name if frames else ""


def _lose(source: str, before: dict[str, Any]) -> None:
    """What a cell did not come to make is missing from now on, even if an earlier cell had something of that name."""
    given, brought = _names_made(ast.parse(source).body)
    for name in given:
        if name in namespace and namespace[name] is before.get(name):
            del namespace[name]
    lost.update((given | brought) - set(namespace))


def _names_made(body: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """The names that statements give to values, and those of what they define or import."""
    given, brought = set[str](), set[str]()
    rest = list(body)
    while rest:
        node = rest.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            brought.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            brought.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.add(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            rest += ast.iter_child_nodes(node)
    return given, brought


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
            drawn = str(shown)
            if len(drawn) > MOST_DRAWN:
                raise TooMuchOutputError(f"{len(drawn):,} characters of {kind.upper()} are more than a page can show")
            return {kind: drawn}
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
