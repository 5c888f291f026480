"""Nodes that share a machine have names of their own: a pod on its node's network sees that one, and the machine keeps its."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from lifecycle.cri.conformance import Subject
from tests.cri.subjects import cgroup_parent, registry, remove_cgroup_parent, sandbox_runtime


@pytest.mark.parametrize(("nodename", "seen"), [("a-node", "a-node"), ("", os.uname().nodename)])
def test_a_pod_on_its_node_s_network_sees_the_node_s_name(tmp_path: Path, nodename: str, seen: str) -> None:
    async def story() -> str:
        async with registry() as served, sandbox_runtime(tmp_path) as (runtime, _):
            runtime.nodename = nodename
            subject = Subject(runtime, served.name("library/shell:1"), str(tmp_path / "logs"), cgroup_parent())
            await runtime.pull_image(subject.image)
            options = {"pid": "CONTAINER", "network": "NODE"}
            config = subject.sandbox_config("guest")
            config = subject.sandbox_config(
                "guest",
                hostname="",
                linux={**config.linux, "security_context": {"namespace_options": options}},
                host_network=True,
            )
            sandbox_id = await subject.sandbox(config)
            container_id = await subject.container(sandbox_id, config, "sleep 1000")
            asked = ("sh", "-c", "hostname; echo $HOSTNAME; cat /etc/hostname; cat /proc/sys/kernel/hostname")
            return (await runtime.exec_sync(container_id, asked, 5)).stdout

    before = os.uname().nodename
    assert asyncio.run(story()).split() == [seen] * 4
    assert os.uname().nodename == before
    remove_cgroup_parent()
