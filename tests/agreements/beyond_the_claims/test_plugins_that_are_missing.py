"""Which plugin of a list it was that could not give a pod its network."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from lifecycle.cni import config
from lifecycle.cni.errors import CNIError
from lifecycle.cni.libcni import CNIConfig
from lifecycle.cni.result_cache import RuntimeConf


@pytest.mark.parametrize(
    ("plugin", "described"),
    [({"type": "nope"}, 'type="nope"'), ({"type": "nope", "name": "mine"}, 'type="nope" name="mine"')],
)
def test_one_that_is_not_there_is_named_and_nothing_is_kept(
    plugin: dict[str, str], described: str, tmp_path: Path
) -> None:
    network = config.network_conf_from(json.dumps({"cniVersion": "1.1.0", "name": "net", "plugins": [plugin]}))
    libcni = CNIConfig([tmp_path / "bin"], tmp_path / "cache")
    with pytest.raises(CNIError) as failed:
        asyncio.run(libcni.add_network_list(network, RuntimeConf("c1", "/run/netns/x", "eth0")))
    missing = f'failed to find plugin "nope" in path [{tmp_path / "bin"}]'
    assert str(failed.value) == f"plugin {described} failed (add): {missing}"
    assert libcni.cached_attachments() == []
