"""A copy of `src` in which one file is broken at a time, so that the checkout never is."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from mutants.grafting import Graft, graft_of
from mutants.nursery import Nursery
from mutants.readers import Readers

CHECKOUT = Path(__file__).resolve().parents[1]


class Workshop:
    """A copy of the package, and the way to run tests over it; `imports`: what these tests load of others. `loaded`: modules
    of the package; what can be grafted is asked about where they are loaded, which costs the tests only. `sure`: what passes
    there passes, as everything is loaded that has to do with it; else it is asked again of those who load the mutant, who may
    compute with it while they do, or start a process that does.

    Use as a context manager: the end removes it.
    """

    def __init__(
        self, checkout: Path, imports: Iterable[str] = (), loaded: Sequence[str] = (), *, sure: bool = False
    ) -> None:
        self.checkout = checkout
        self.imports = imports
        self.loaded = loaded
        self.sure = sure
        self.computed = 0.0
        """Seconds of the processor that the last question took."""
        self.readers = Readers(checkout / "src", checkout / "tests", checkout / "_build" / "mutants" / "modules.pickle")
        self.graft: Graft | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.source = self.folder / "src"
        shutil.copytree(checkout / "src", self.source, ignore=shutil.ignore_patterns("*.egg-info"))

    def __enter__(self) -> Workshop:
        return self

    @functools.cached_property
    def nursery(self) -> Nursery:
        """Started when it is first asked."""
        return Nursery(self.imports, self.checkout, _environment(self.source))

    @functools.cached_property
    def warm(self) -> Nursery:
        """The other one, which has loaded the checkout."""
        return Nursery(self.loaded, self.checkout, _environment(self.checkout / "src"))

    def __exit__(self, kind: object, *_: object) -> None:
        for name in ("nursery", "warm"):
            if name in self.__dict__:
                self.__dict__[name].close(at_once=kind is not None)
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextlib.contextmanager
    def broken(self, module: Path, text: str, *, in_children: bool = False) -> Iterator[None]:
        """The copy of `module` has this text for as long as the block runs. `in_children`: other processes load it, too, and
        a graft would be in the one only."""
        copy = self.source / module.relative_to(self.checkout / "src")
        copy.write_text(text)
        os.utime(
            copy, (1, 1)
        )  # what is of the same second and size as the original would be taken for it, which is compiled
        self.graft = graft_of(str(module), module.read_text(), text) if self.loaded and not in_children else None
        try:
            yield
        finally:
            self.graft = None
            shutil.copy2(module, copy)  # with its time, or its compiled form would be the mutant's

    @contextlib.contextmanager
    def unbroken(self) -> Iterator[None]:
        """The block is about the package as it is, asked where a graft would be asked about."""
        sure, self.sure = self.sure, True
        self.graft = Graft("", "", ()) if self.loaded else None
        try:
            yield
        finally:
            self.graft, self.sure = None, sure

    def tests_pass(self, nodeids: list[str], seconds: float, limits: Mapping[str, float] | None = None) -> bool:
        """Whether these tests pass over the copy; the first that fails ends it, and so does the time: `seconds` for all
        of them, `limits` for some of them each, both of the processor.

        A test that cannot even be collected any more has noticed, too.

        Raises:
            FileNotFoundError: there are no such tests.
        """
        for file in {nodeid.split("::")[0] for nodeid in nodeids}:
            if not (self.checkout / file).exists():
                raise FileNotFoundError(self.checkout / file)
        listed = self.folder / "tests.txt"
        listed.write_text("\n".join(nodeids))
        # asserts as they stand: nobody reads the explanation, and rewriting them takes longer than many tests
        arguments = ["-x", "-n0", "-q", "-p", "no:cacheprovider", "-p", "no:lifecycle", "--assert=plain", f"@{listed}"]
        if self.graft is not None:
            with contextlib.suppress(LookupError):  # not loaded, so it has to be
                passed = self.warm.ask(arguments, self.output, seconds, limits, self.graft) == 0
                self.computed = self.warm.computed
                if self.sure or not passed:
                    return passed
        passed = self.nursery.ask(arguments, self.output, seconds, limits) == 0
        self.computed = self.nursery.computed
        return passed

    @property
    def output(self) -> Path:
        """What pytest printed the last time."""
        return self.folder / "output.txt"

    def who_noticed(self) -> str:
        """The test that failed last, or how it ended if none did."""
        lines = self.output.read_text(errors="replace").splitlines()
        failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        return (failed or lines or ["the clock"])[-1]


def _environment(source: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{CHECKOUT}", "PYTHONDONTWRITEBYTECODE": "1"}
