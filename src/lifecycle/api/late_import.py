"""Libraries that are loaded when they are first needed.

TLS, HTTP sockets, protobuf, CEL and RE2 come from compiled libraries. A cluster whose
clients are in its own process needs none of them; a browser tab cannot load them; and
to load them all takes longer than to start the cluster.

    if TYPE_CHECKING:
        import aiohttp
    else:
        aiohttp = late_import("aiohttp")
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

IN_A_TAB = sys.platform == "emscripten"
"""Whether this is Python in WebAssembly: no sockets, no threads, nothing compiled."""


BEHIND_A_SOCKET = (
    "asyncio",
    "aiohttp.web",
    "cryptography.x509",
    "cryptography.hazmat.primitives.serialization",
)
"""What speaks HTTP and makes certificates. aiohttp reads all that this machine trusts,
which is not Python's work.
"""


class LibraryMissingError(ImportError):
    """Something was asked for that only a library can do which is not here."""


class _LateModule(ModuleType):
    """A module's name, until somebody asks for something in it."""

    def __getattr__(self, attribute: str) -> Any:
        module = self.__dict__.get("_loaded")
        if module is None:
            try:
                module = import_module(self.__name__)
            except ImportError as error:
                library = self.__name__.partition(".")[0]
                raise LibraryMissingError(
                    f"this needs the Python library {library}, which is not here: "
                    f"{error}",
                    name=library,
                ) from error
            self.__dict__["_loaded"] = module
        return getattr(module, attribute)


def late_import(name: str) -> Any:
    """The module of that name, loaded at its first use.

    That use raises LibraryMissingError (an ImportError) if there is no such library.
    """
    return _LateModule(name)


def load_beside(*names: str) -> None:
    """Load libraries that will be needed in a moment, in a thread of its own: what they
    do outside of Python, such as to read files, then takes nobody's time. Who needs one
    earlier waits for it, and is told if it is not here.
    """
    from threading import Thread  # `lifecycle --help` needs none

    def load() -> None:
        with suppress(ImportError):
            for name in names:
                import_module(name)

    if not IN_A_TAB and any(name not in sys.modules for name in names):
        Thread(target=load, name="late imports", daemon=True).start()
