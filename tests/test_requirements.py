"""Every package that is asked for runs on the oldest Python that the project promises to run on."""

from __future__ import annotations

import tomllib
from importlib.metadata import metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.conftest import ROOT

PINNED = [
    Requirement(line.partition("#")[0])
    for line in (ROOT / "requirements.txt").read_text().splitlines()
    if line.partition("#")[0].strip()
]
PROMISED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]


def oldest() -> Version:
    """The first release of the Python that `requires-python` begins with: some distributions stay there for years."""
    [least] = [each for each in SpecifierSet(PROMISED) if each.operator == ">="]
    return Version(f"{least.version}.0")


@pytest.mark.parametrize("requirement", PINNED, ids=lambda requirement: requirement.name)
def test_a_pinned_package_runs_on_the_oldest_python(requirement: Requirement) -> None:
    assert [each.operator for each in requirement.specifier] == ["=="]
    if requirement.marker is None or requirement.marker.evaluate():
        assert oldest() in SpecifierSet(metadata(requirement.name).get("Requires-Python", ""))
