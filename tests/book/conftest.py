"""The built site as a reader has it: over a loopback server, in a real browser."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.conftest import unavailable

if TYPE_CHECKING:
    from selenium import webdriver


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Says nothing about requests."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    from tests.book.test_site import HTML

    if not (HTML / "index.html").exists():
        unavailable("the site is not built yet: run `make book`")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(HTML)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    from tests.book.test_site import opened

    with opened(chromium, tmp_path_factory.mktemp("chromium")) as driver:
        yield driver
