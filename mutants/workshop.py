"""A copy of `src` in which one file is broken at a time, so that the checkout never is."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from mutants.nursery import Nursery

CHECKOUT = Path(__file__).resolve().parents[1]


class Workshop:
    """A copy of the package, and the way to run tests over it; `imports`: what these tests load of others.

    Use as a context manager: the end removes it.
    """

    def __init__(self, checkout: Path, imports: Iterable[str] = ()) -> None:
        self.checkout = checkout
        self.imports = imports
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.source = self.folder / "src"
        shutil.copytree(checkout / "src", self.source, ignore=shutil.ignore_patterns("*.egg-info"))

    def __enter__(self) -> Workshop:
        return self

    @functools.cached_property
    def nursery(self) -> Nursery:
        """Started when it is first asked."""
        environment = os.environ | {
            "PYTHONPATH": f"{self.source}{os.pathsep}{CHECKOUT}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return Nursery(self.imports, self.checkout, environment)

    def __exit__(self, *_: object) -> None:
        if "nursery" in self.__dict__:
            self.nursery.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def broken(self, module: Path, text: str) -> Iterator[None]:
        """The copy of `module` has this text for as long as the block runs."""
        copy = self.source / module.relative_to(self.checkout / "src")
        copy.write_text(text)
        try:
            yield
        finally:
            shutil.copy2(module, copy)  # with its time, or its compiled form would be the mutant's

    def tests_pass(self, nodeids: list[str], seconds: float) -> bool:
        """Whether these tests pass over the copy; the first that fails ends it, and so does the time.

        A test that cannot even be collected any more has noticed, too.

        Raises:
            FileNotFoundError: there are no such tests.
        """
        for file in {nodeid.split("::")[0] for nodeid in nodeids}:
            if not (self.checkout / file).exists():
                raise FileNotFoundError(self.checkout / file)
        listed, output = self.folder / "tests.txt", self.folder / "output.txt"
        listed.write_text("\n".join(nodeids))
        # asserts as they stand: nobody reads the explanation, and rewriting them takes longer than many tests
        arguments = ["-x", "-n0", "-q", "-p", "no:cacheprovider", "--assert=plain", f"@{listed}"]
        return self.nursery.ask(arguments, output, seconds) == 0
