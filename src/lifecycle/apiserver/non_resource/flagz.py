"""`/flagz`: with which flags the server was started.

It shows the flags that this server has, by kube-apiserver's names and as Go prints
their values; those it does not have are not there. The text is made once.

Upstream: `apiserver/pkg/server/flagz/{flagz,flagreader,textserializer}.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.names import NameSource
from lifecycle.apiserver.non_resource.zpages import (
    COMPONENT,
    HEAD,
    delimiter,
    serve_page,
)

PATH = "/flagz"
KIND = "Flagz"


class Flagz:
    """The endpoint of a server with these flags: texts, numbers, booleans, paths (None:
    not given), lists.
    """

    def __init__(self, flags: Mapping[str, Any], names: NameSource) -> None:
        self.flags = {name: flag_string(value) for name, value in sorted(flags.items())}
        self._names = names
        self._page = ""

    def serve(self, request: Request) -> Response:
        """Text, or the object in the form asked for. Raises StatusError 406."""
        return serve_page(request, KIND, self._plain_text, self._body)

    def _body(self) -> Object:
        return {"flags": self.flags} if self.flags else {}

    def _plain_text(self) -> str:
        if not self._page:
            sign = delimiter(self._names)
            lines = "".join(
                f"{name}{sign}{value}\n" for name, value in self.flags.items()
            )
            self._page = f"\n{COMPONENT} flagz\n{HEAD}\n{lines}"
        return self._page


def flag_string(
    value: str | int | bool | Path | list[str] | tuple[str, ...] | None,
) -> str:
    """A flag's value as Go's `pflag` prints it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{','.join(value)}]" if isinstance(value, (list, tuple)) else str(value)
