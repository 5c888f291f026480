"""What Tab offers, beside what the real kubectl offers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.kubectl.test_completion import offered


@pytest.mark.real
@pytest.mark.parametrize("words", [("rol",), ("rollout", "status", "d"), ("get", "--sort"), ("scale", "--replica")])
def test_the_real_kubectl_offers_the_same(words: tuple[str, ...], kubectl_binary: Path) -> None:
    """As far as it needs no server."""

    async def asked() -> str:
        process = await asyncio.create_subprocess_exec(
            kubectl_binary, "__complete", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        return (await process.communicate())[0].decode()

    theirs = [line.partition("\t")[0] for line in asyncio.run(asked()).splitlines() if not line.startswith(":")]
    assert offered(*words[:-1], last=words[-1]) == sorted(theirs)
