"""Finding a reader's attempt: `module:object`, or `path/to/file.py:object`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from lifecycle.exercises.exercise import Attempt
from lifecycle.exercises.time_limit import TooSlow, time_limit

SECONDS_TO_LOAD = 20.0


class AttemptError(ValueError):
    """An attempt cannot be found or is nothing that can be called; the message says
    what to do.
    """


def load_attempt(spec: str) -> Attempt:
    """The object that `module:object` names; modules are looked for in the working
    directory first.

    Raises AttemptError, with one line for people.
    """
    module_name, colon, path = spec.rpartition(":")
    if not colon or not module_name or not path:
        raise AttemptError(
            f"{spec!r} does not name an attempt: write module:object, such as"
            " mine:authorize"
        )
    try:
        with time_limit(SECONDS_TO_LOAD):
            target: Any = _module(module_name)
    except TooSlow:
        raise AttemptError(
            f"{module_name} is not imported after {SECONDS_TO_LOAD:.0f} s: does it do"
            " something at its top?"
        ) from None
    for part in path.split("."):
        try:
            target = getattr(target, part)
        except AttributeError:
            raise AttemptError(f"{module_name} has no {path!r}") from None
    if not callable(target):
        raise AttemptError(
            f"{spec} is a {type(target).__name__}, which cannot be called"
        )
    attempt: Attempt = target
    return attempt


def _module(name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        if name.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(name).stem, name)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
        return importlib.import_module(name)
    except FileNotFoundError:
        raise AttemptError(f"there is no file {name}") from None
    except ModuleNotFoundError as error:
        if error.name and name.split(".")[0] == error.name.split(".")[0]:
            raise AttemptError(
                f"no module {error.name!r} here: run this in the folder of your file"
            ) from None
        raise AttemptError(f"{name} cannot be imported: {error}") from None
    except (KeyboardInterrupt, TooSlow, AttemptError):
        raise
    except BaseException as error:
        # whatever a reader's module does while it is imported, leaving the program
        # included
        raise AttemptError(
            f"{name} cannot be imported: {type(error).__name__}: {error}"
        ) from None
