"""Reading a recorded cluster: the machines, the objects that were there before anybody asked, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cluster import like
from lifecycle.cluster.like import Likeness, plant, read, recorded_images
from lifecycle.cri.apis.image import Image
from lifecycle.etcd.memory import MemoryStore
from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY

FACTS = {"machineID": "m", "systemUUID": "s", "bootID": "b", "kernelVersion": "6.1", "osImage": "Debian"}


def node(name: str, *addresses: tuple[str, str], **spec: Any) -> Object:
    listed = [{"type": kind, "address": address} for kind, address in addresses]
    return {
        "metadata": {"name": name, "uid": name},
        "spec": spec,
        "status": {"nodeInfo": {**FACTS, "kubeletVersion": "v1"}, "addresses": listed},
    }


def config_map(name: str, **data: str) -> Object:
    return {"metadata": {"name": name, "namespace": "shop", "uid": name}, "data": data}


def answer(kind: str, *items: Object, method: str = "GET", api_version: str = "v1") -> Object:
    return {
        "method": method,
        "status": 200,
        "response": {"kind": kind, "apiVersion": api_version, "items": list(items)},
    }


def created(name: str) -> Object:
    return {"method": "POST", "status": 201, "response": {"metadata": {"uid": name}}}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    (tmp_path / "http").mkdir()
    return tmp_path


def recorded(recording: Path, *exchanges: Object, file: str = "objects") -> Path:
    path = recording / "http" / f"{file}.jsonl"
    path.write_bytes(b"\n".join(map(fast_json.dumps, exchanges)))
    return path


def names(likeness: Likeness) -> list[tuple[str, str]]:
    return [(row.plural, obj["metadata"]["name"]) for row, obj in likeness.objects]


def test_a_machine_is_what_its_node_says(recording: Path) -> None:
    taint = {"key": "a", "effect": "NoSchedule"}
    seen = node("n", ("Hostname", "n"), ("InternalIP", "10.0.0.7"), podCIDR="10.1.0.0/24", taints=[taint])
    seen["metadata"]["labels"] = {"zone": "a"}
    seen["status"]["capacity"] = {"cpu": "3"}
    recorded(recording, answer("NodeList", seen))
    (shape,) = read(recording).nodes
    assert (shape.name, shape.address, shape.pod_cidr, shape.taints) == ("n", "10.0.0.7", "10.1.0.0/24", (taint,))
    assert (shape.labels, shape.capacity, shape.machine_info) == ({"zone": "a"}, {"cpu": "3"}, FACTS)


def test_a_machine_that_says_little_is_of_paper_and_gets_the_next_free_address(recording: Path) -> None:
    recorded(recording, answer("NodeList", node("a"), node("b", ("InternalIP", "172.19.0.2")), node("c")))
    shapes = read(recording).nodes
    assert [(shape.name, shape.address) for shape in shapes] == [
        ("a", "172.19.0.3"),
        ("b", "172.19.0.2"),
        ("c", "172.19.0.4"),
    ]
    assert (shapes[0].capacity, shapes[0].labels, shapes[0].taints, shapes[0].pod_cidr) == (PAPER_CAPACITY, {}, (), "")


def test_images_are_those_that_were_on_the_node_without_their_digests(recording: Path) -> None:
    recorded(recording, answer("NodeList", node("n"), node("other")))
    listing = recording / "node" / "n" / "crictl-images.txt"
    listing.parent.mkdir(parents=True)
    image = {"id": "sha256:1", "repoTags": ["pause:3.10", "pause:x"], "repoDigests": ["pause@sha256:2"], "size": "42"}
    listing.write_text("$ crictl images -o json\n" + fast_json.dumps({"images": [image]}).decode())
    assert [shape.images for shape in read(recording).nodes] == [
        (Image("sha256:1", ("pause:3.10", "pause:x"), (), 42),),
        (),
    ]
    assert recorded_images(recording, "nowhere") == []


def test_only_what_can_be_stored_and_was_listed_is_planted(recording: Path) -> None:
    recorded(
        recording,
        answer("NodeList", node("n")),
        answer("ConfigMapList", config_map("a"), config_map("b")),
        answer("ConfigMapList", config_map("sent"), method="POST"),
        answer("ComponentStatusList", {"metadata": {"name": "etcd-0"}}),
        answer("NoSuchList", {"metadata": {"name": "x"}}),
        answer("ConfigMap", config_map("no list")),
        {"method": "GET", "status": 200, "response": 'some text with "items"'},
        {"method": "GET", "status": 200, "response": {"metadata": {"name": "not listed"}}},
    )
    likeness = read(recording)
    assert names(likeness) == [("nodes", "n"), ("configmaps", "a"), ("configmaps", "b")]
    assert [(obj["apiVersion"], obj["kind"]) for _, obj in likeness.objects] == [
        ("v1", "Node"),
        ("v1", "ConfigMap"),
        ("v1", "ConfigMap"),
    ]


def test_what_the_recorder_made_itself_was_not_there_before(recording: Path) -> None:
    recorded(
        recording,
        answer("NodeList", node("n")),
        created("mine"),
        {"method": "POST", "status": 201, "response": {"kind": "SelfSubjectReview", "metadata": {}}},
        {"method": "POST", "status": 201, "response": {"kind": "SelfSubjectReview"}},
        answer("ConfigMapList", config_map("mine"), config_map("theirs")),
    )
    assert names(read(recording)) == [("nodes", "n"), ("configmaps", "theirs")]


def test_who_may_do_what_was_listed_elsewhere_and_what_was_made_there_is_left_out(recording: Path) -> None:
    recorded(recording, answer("NodeList", node("n")), created("role"))
    role = {"metadata": {"name": "role", "uid": "role"}}
    other = {"metadata": {"name": "other", "uid": "other"}}
    roles = answer("ClusterRoleList", role, other, api_version="rbac.authorization.k8s.io/v1")
    recorded(recording, created("other"), roles, file="authz")
    assert names(read(recording)) == [("nodes", "n"), ("clusterroles", "role")]


def test_the_pods_are_those_that_are_planted(recording: Path) -> None:
    pod = {"metadata": {"name": "p", "namespace": "shop", "uid": "p"}}
    recorded(recording, answer("NodeList", node("n")), answer("PodList", pod), answer("ConfigMapList", config_map("a")))
    assert [each["metadata"]["name"] for each in read(recording).pods] == ["p"]


def binding(role: str, kind: str, name: str, plural: str = "clusterrolebindings") -> Likeness:
    subject = {"kind": kind, "name": name}
    obj = {"roleRef": {"name": role}, "subjects": [{"kind": "User", "name": "x"}, subject]}
    return Likeness(objects=[(resource(f"{plural}.rbac.authorization.k8s.io"), obj)])


@pytest.mark.parametrize(
    ("likeness", "group"),
    [
        (binding("cluster-admin", "Group", "kubeadm:cluster-admins"), "kubeadm:cluster-admins"),
        (binding("view", "Group", "kubeadm:cluster-admins"), "system:masters"),
        (binding("cluster-admin", "User", "kubeadm:cluster-admins"), "system:masters"),
        (binding("cluster-admin", "Group", "somebody"), "system:masters"),
        (binding("cluster-admin", "Group", "kubeadm:cluster-admins", "rolebindings"), "system:masters"),
        (
            Likeness(
                objects=[
                    (resource("clusterrolebindings.rbac.authorization.k8s.io"), {"roleRef": {"name": "cluster-admin"}})
                ]
            ),
            "system:masters",
        ),
        (Likeness(), "system:masters"),
    ],
)
def test_the_administrator_is_in_kubeadms_group_only_where_it_is_bound(likeness: Likeness, group: str) -> None:
    assert likeness.admin_groups == (group,)


def planted(likeness: Likeness, root_ca: str = "") -> dict[str, Any]:
    """What is in the store afterwards, by key."""

    async def main() -> dict[str, Any]:
        store = MemoryStore()
        await plant(store, likeness, root_ca)
        found = await store.range("/registry/", "/registry0")
        return {kv.key: fast_json.loads(kv.value) for kv in found.kvs}

    return run_virtual(main())


def test_objects_lie_under_their_keys_as_they_were() -> None:
    pod = {"metadata": {"name": "p", "namespace": "shop", "uid": "u"}}
    namespace = {"metadata": {"name": "shop"}}
    found = planted(Likeness(objects=[(resource("pods"), pod), (resource("namespaces"), namespace)]))
    assert found == {"/registry/pods/shop/p": pod, "/registry/namespaces/shop": namespace}


def test_whoever_trusted_the_recorded_authority_trusts_this_clusters_own() -> None:
    maps = [
        config_map("kube-root-ca.crt", **{"ca.crt": "theirs"}),
        config_map("copied", config="theirs", other="text"),
        config_map("bare"),
    ]
    secret = {"metadata": {"name": "s", "namespace": "shop"}, "data": {"ca.crt": "theirs"}}
    objects = [*((resource("configmaps"), obj) for obj in maps), (resource("secrets"), secret)]
    for root_ca, trusted in (("ours", "ours"), ("", "theirs")):
        found = {
            key.rpartition("/")[2]: obj["data"] for key, obj in planted(Likeness(objects=objects), root_ca).items()
        }
        assert found == {
            "kube-root-ca.crt": {"ca.crt": trusted},
            "copied": {"config": trusted, "other": "text"},
            "bare": {},
            "s": {"ca.crt": "theirs"},
        }


def test_a_folder_without_objects_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--like") as refused:
        read(tmp_path)
    assert str(refused.value) == (
        f"--like wants a recording with http/objects.jsonl; {tmp_path} has none"
        " (kind names the one that comes with the package)"
    )


def test_a_recording_that_was_not_asked_for_nodes_is_refused(recording: Path) -> None:
    path = recorded(recording, answer("ConfigMapList", config_map("a")), answer("NodeList", method="POST"))
    with pytest.raises(ValueError, match="--like") as refused:
        read(recording)
    assert str(refused.value) == f"--like wants a recording that lists nodes; {path} lists none"


def test_a_control_plane_may_have_no_machines(recording: Path) -> None:
    recorded(recording, answer("ConfigMapList", config_map("a")), answer("NodeList"))
    likeness = read(recording)
    assert (likeness.nodes, names(likeness)) == ([], [("configmaps", "a")])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"items"', "JSONDecodeError"),
        (b'{"items": []}', "KeyError('response')"),
        (b'["items"]', "TypeError"),
        (b'{"method": "GET", "response": {"kind": "NodeList", "apiVersion": "v1", "items": [5]}}', "AttributeError"),
    ],
)
def test_a_line_that_is_no_answer_is_named(recording: Path, line: bytes, why: str) -> None:
    path = recorded(recording, answer("NodeList", node("n")))
    path.write_bytes(path.read_bytes() + b"\n" + line)
    with pytest.raises(ValueError, match="--like") as refused:
        read(recording)
    assert str(refused.value).startswith(f"--like: line 2 of {path} is no recorded answer: {why}")


def test_the_packages_own_recording_has_its_images() -> None:
    likeness = read(like.KIND)
    assert [shape.name for shape in likeness.nodes] == [
        "lifecycle-control-plane",
        "lifecycle-worker",
        "lifecycle-worker2",
    ]
    assert all(tag.count(":") for shape in likeness.nodes for image in shape.images for tag in image.repo_tags)
    assert all(shape.images and shape.machine_info for shape in likeness.nodes)
    assert {"nodes", "namespaces", "pods", "clusterroles", "leases"} <= {row.plural for row, _ in likeness.objects}
