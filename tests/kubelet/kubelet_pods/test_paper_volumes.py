"""Files of a pod on a node without a disk: modes, owners, memory, and who may touch them."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cri.apis.container import ContainerState
from tests.cri.hollow.shell.test_shell import NOT_RUN
from tests.kubelet.small_cluster import small_cluster

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"


def pod(volume: Object, args: list[str], context: Object | None = None, **container: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "restartPolicy": "Never",
            "securityContext": context or {},
            "volumes": [{"name": "v", **volume}],
            "containers": [
                {
                    "name": "c",
                    "image": IMAGE,
                    "args": args,
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    **container,
                }
            ],
        },
    }


def said(manifest: Object) -> tuple[int, str]:
    """Exit code of the pod's container, and what it wrote."""

    async def main() -> tuple[int, str]:
        async with small_cluster(nodes=("lifecycle-worker",)) as cluster:
            for kind, plural in (("Secret", "secrets"), ("ConfigMap", "configmaps")):
                data = {"key": base64.b64encode(b"value").decode() if kind == "Secret" else "value"}
                obj = {"kind": kind, "apiVersion": "v1", "metadata": {"name": "s"}, "data": data}
                await cluster.admin.create(resource(plural), obj, "default")
            await cluster.create_pod(manifest)
            await asyncio.sleep(10)
            runtime = cluster.runtimes["lifecycle-worker"]
            container = (await runtime.list_containers())[0]
            assert container.state is ContainerState.EXITED
            lines = runtime.read_log(container.log_path).decode().splitlines(keepends=True)
            return container.exit_code, "".join(line.split(" ", 3)[3] for line in lines)

    return run_virtual(main())


SECRET = {"secret": {"secretName": "s", "defaultMode": 0o400}}
CONFIG_MAP = {"configMap": {"name": "s"}}
MEMORY = {"emptyDir": {"medium": "Memory"}}
LOOK = ["mounttest", "--file_mode=/v/key", "--file_owner=/v/key", "--file_content=/v/key", "--fs_type=/v"]


def looked(kind: str, mode: str, group: int, content: str = 'content of file "/v/key": value\n') -> str:
    return (
        f'mount type of "/v": {kind}\nmode of file "/v/key": {mode}\n'
        f'owner UID of "/v/key": 0\nowner GID of "/v/key": {group}\n{content}'
    )


def test_a_secret_is_in_memory_and_has_the_mode_that_it_asks_for() -> None:
    assert said(pod(SECRET, LOOK)) == (0, looked("tmpfs", "-r--------", 0))


def test_a_config_map_is_on_disk_and_readable_for_all() -> None:
    assert said(pod(CONFIG_MAP, LOOK, {"runAsUser": 1000})) == (0, looked("61267", "-rw-r--r--", 0))


def test_an_item_has_its_own_mode() -> None:
    items = [{"key": "key", "path": "key", "mode": 0o440}]
    assert said(pod({"configMap": {"name": "s", "items": items}}, LOOK))[1] == looked("61267", "-r--r-----", 0)


def test_a_user_may_not_read_what_is_another_s() -> None:
    refused = 'error reading file content for "/v/key": open /v/key: permission denied\n'
    assert said(pod(SECRET, LOOK, {"runAsUser": 1000})) == (1, looked("tmpfs", "-r--------", 0, refused))


def test_the_pod_s_group_may_read_it() -> None:
    context = {"runAsUser": 1000, "fsGroup": 1001}
    assert said(pod(SECRET, LOOK, context)) == (0, looked("tmpfs", "-r--r-----", 1001))


@pytest.mark.parametrize(
    ("volume", "mode", "kind"), [(MEMORY, "dtrwxrwxrwx", "tmpfs"), ({"emptyDir": {}}, "drwxrwxrwx", "61267")]
)
def test_an_empty_directory_is_everybody_s(volume: Object, mode: str, kind: str) -> None:
    look = ["mounttest", "--fs_type=/v", "--file_mode=/v", "--new_file_0644=/v/a", "--file_owner=/v/a"]
    code, text = said(pod(volume, look, {"runAsUser": 1000, "runAsGroup": 7}))
    assert (code, text) == (
        0,
        f'mount type of "/v": {kind}\ncontent of file "/v/a": mount-tester new file\n\nmode of file "/v": {mode}\n'
        'owner UID of "/v/a": 1000\nowner GID of "/v/a": 7\n',
    )


def test_what_is_made_in_the_group_s_directory_is_the_group_s() -> None:
    look = ["mounttest", "--new_file_0660=/v/a", "--file_mode=/v", "--file_owner=/v/a"]
    code, text = said(pod({"emptyDir": {}}, look, {"runAsUser": 1000, "fsGroup": 1001}))
    assert (code, text.splitlines()[2:]) == (
        0,
        ['mode of file "/v": dgrwxrwxrwx', 'owner UID of "/v/a": 1000', 'owner GID of "/v/a": 1001'],
    )


def test_nothing_is_written_to_a_root_that_is_read_only() -> None:
    look = ["mounttest", "--new_file_0644=/tmp/a", "--new_file_0666=/v/a"]
    code, text = said(pod({"emptyDir": {}}, look, securityContext={"readOnlyRootFilesystem": True}))
    assert (code, text.splitlines()[:2]) == (
        1,
        [
            'error writing new file "/tmp/a": open /tmp/a: read-only file system',
            'content of file "/v/a": mount-tester new file',
        ],
    )


def test_what_is_in_a_volume_of_the_api_s_cannot_be_written() -> None:
    code, text = said(pod(CONFIG_MAP, ["mounttest", "--new_file_0644=/v/key"]))
    assert (code, text) == (1, 'error writing new file "/v/key": open /v/key: read-only file system\n')


def test_who_made_a_file_may_change_its_mode() -> None:
    shell = "echo a > /v/a; chmod 0400 /v/a; agnhost mounttest --file_mode=/v/a; cat /v/key; chmod 0777 /v; id -u"
    command = {"command": ["sh", "-c", shell]}
    code, text = said(pod({"emptyDir": {}}, [], {"runAsUser": 1000, "runAsGroup": 7}, **command))
    assert (code, text) == (
        0,
        'mode of file "/v/a": -r--------\n'
        "cat: can't open '/v/key': No such file or directory\nchmod: /v: Operation not permitted\n1000\n",
    )


@pytest.mark.parametrize(
    ("context", "code", "text"),
    [
        ({"runAsUser": 1001, "runAsGroup": 2002}, 0, "uid=1001 gid=2002 groups=2002\n"),
        ({"runAsUser": 1001, "runAsGroup": 2002, "fsGroup": 3003}, 0, "uid=1001 gid=2002 groups=2002,3003\n"),
        ({"runAsUser": 1001}, 126, NOT_RUN.format("id")),
    ],
)
def test_id_says_what_images_have_no_names_for(context: Object, code: int, text: str) -> None:
    assert said(pod({"emptyDir": {}}, [], context, command=["id"])) == (code, text)


def test_a_sub_path_is_a_directory_of_the_volume() -> None:
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "v", "mountPath": "/s", "subPath": "a/b"}]
    command = ["sh", "-c", "touch /v/a/b/c; ls /v /v/a /s"]
    code, text = said(pod({"emptyDir": {}}, [], volumeMounts=mounts, command=command))
    assert (code, text) == (0, "/s:\nc\n\n/v:\na\n\n/v/a:\nb\n")


def test_a_pod_reads_the_kernel_parameters_that_it_sets() -> None:
    context = {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}
    command = ["sh", "-c", "sysctl kernel.shm_rmid_forced; cat /proc/sys/kernel/shm_rmid_forced"]
    assert said(pod({"emptyDir": {}}, [], context, command=command)) == (0, "kernel.shm_rmid_forced = 1\n1\n")
