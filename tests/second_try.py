"""In CI a test that fails is tried once more. What its module has prepared for all its tests is then prepared once more, too.

Without that, a test that only looks at what a fixture has played would look at the same again.
"""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before a test's second try (`execution_count` is pytest-rerunfailures'), end what its module's and its class's fixtures hold."""
    if not isinstance(item, pytest.Function) or getattr(item, "execution_count", 1) == 1:
        return
    for definitions in reversed(item._fixtureinfo.name2fixturedefs.values()):
        for definition in definitions:
            if definition.scope in ("module", "class"):
                definition.finish(item._request)
