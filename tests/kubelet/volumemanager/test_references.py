"""What a pod waits for on a node that mounts nothing."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.kubelet.volume.host_path import check_type_on_paper
from lifecycle.kubelet.volume.payloads import VolumeError
from lifecycle.kubelet.volumemanager.references import ObjectReferences
from tests.fake_api import FakeAPI


def unmountable(*volumes: Object) -> list[tuple[str, str]]:
    """What is said of a pod's volumes where there is one ConfigMap `cfg` and one Secret `sec`."""

    async def main() -> list[tuple[str, str]]:
        client = Client(FakeAPI(), "kubelet/1")
        binary = {"blob": base64.b64encode(b"x").decode()}
        config = {"metadata": {"name": "cfg"}, "data": {"text": "x"}, "binaryData": binary}
        await client.create(resource("configmaps"), config, "default")
        secret = {"metadata": {"name": "sec"}, "data": {"key": binary["blob"]}}
        await client.create(resource("secrets"), secret, "default")
        mounts = [{"name": each["name"], "mountPath": "/v"} for each in volumes if each["name"] != "unmounted"]
        spec = {"volumes": list(volumes), "containers": [{"name": "c", "volumeMounts": mounts}]}
        pod = {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": spec}
        return await ObjectReferences(client).unmountable_volumes(pod)

    return run_virtual(main())


def items(*keys: str) -> list[Object]:
    return [{"key": key, "path": key} for key in keys]


def projected(*sources: Object) -> Object:
    return {"projected": {"sources": list(sources)}}


NO_CONFIG, NO_SECRET = 'configmap "none" not found', 'secret "none" not found'


@pytest.mark.parametrize(
    ("volume", "why"),
    [
        ({"configMap": {"name": "cfg"}}, ""),
        ({"configMap": {"name": "cfg", "items": items("text", "blob")}}, ""),
        (
            {"configMap": {"name": "cfg", "items": items("text", "no")}},
            "configmap references non-existent config key: no",
        ),
        ({"configMap": {"name": "none"}}, NO_CONFIG),
        ({"configMap": {"name": "none", "optional": True}}, ""),
        ({"secret": {"secretName": "sec", "items": items("key")}}, ""),
        ({"secret": {"secretName": "sec", "items": items("no")}}, "references non-existent secret key: no"),
        ({"secret": {"secretName": "none"}}, NO_SECRET),
        ({"secret": {"secretName": "none", "optional": True}}, ""),
        (projected({"configMap": {"name": "cfg"}}, {"secret": {"name": "none"}}), NO_SECRET),
        (projected({"configMap": {"name": "none", "optional": True}}, {"secret": {"name": "sec"}}), ""),
        ({"hostPath": {"path": "/var/log/", "type": "Directory"}}, ""),
        ({"hostPath": {"path": "/nowhere", "type": "DirectoryOrCreate"}}, ""),
        ({"hostPath": {"path": "/etc", "type": "File"}}, "hostPath type check failed: /etc is not a file"),
        ({"emptyDir": {}}, ""),
    ],
)
def test_what_is_missing_is_named(volume: Object, why: str) -> None:
    assert unmountable({"name": "v", **volume}) == ([("v", why)] if why else [])


def test_of_each_volume_the_first_that_is_missing_is_told() -> None:
    two: dict[str, Any] = projected({"configMap": {"name": "none"}}, {"secret": {"name": "none"}})
    secret = {"secret": {"secretName": "none"}}
    volumes = (
        {"name": "a", **two},
        {"name": "unmounted", **secret},
        {"name": "b", **secret},
        {"name": "c", "emptyDir": {}},
    )
    assert unmountable(*volumes) == [("a", NO_CONFIG), ("b", NO_SECRET)]


@pytest.mark.parametrize(
    ("path", "kind", "what"),
    [
        ("/", "Directory", ""),
        ("/etc/hosts", "File", ""),
        ("/run/containerd/containerd.sock", "Socket", ""),
        ("/dev/null", "CharDevice", ""),
        ("/dev/null", "BlockDevice", "a block device"),
        ("/dev", "CharDevice", "a character device"),
        ("/etc/hosts", "Directory", "a directory"),
        ("/tmp", "Socket", "a socket file"),
        ("/nowhere", "", ""),
    ],
)
def test_a_node_that_is_not_there_has_what_any_linux_node_has(path: str, kind: str, what: str) -> None:
    if not what:
        check_type_on_paper(path, kind)
        return
    with pytest.raises(VolumeError) as refused:
        check_type_on_paper(path, kind)
    assert str(refused.value) == f"hostPath type check failed: {path} is not {what}"
