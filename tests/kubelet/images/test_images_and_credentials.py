"""Pulling: which credentials fit, in which order, who may use what is here, and what is said when it fails."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.names import NameSource
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.images.credentials import (
    CredentialError,
    Keyring,
    NodeCredentials,
    decode_docker_config,
    keyring_from_secrets,
    lookup_credentials,
    urls_match,
)
from lifecycle.kubelet.images.image_manager import (
    ImageError,
    ImageManager,
    apply_default_image_tag,
    repository,
)
from lifecycle.kubelet.kubelet_pods.pull_secrets import get_pull_secrets_for_pod

PRIVATE = "registry.example/team/app:1"


def secret(name: str, registry: str, user: str, password: str) -> Object:
    auths = {"auths": {registry: {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}}}
    return {
        "metadata": {"name": name, "namespace": "n", "uid": f"uid-{name}"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": base64.b64encode(json.dumps(auths).encode()).decode()},
    }


def pod(uid: str = "u") -> Object:
    return {"metadata": {"name": "p", "namespace": "n", "uid": uid}, "spec": {"containers": []}}


@pytest.mark.parametrize(
    ("glob", "target", "match"),
    [
        ("*.example.com", "a.example.com/x", True),
        ("*.example.com", "a.b.example.com/x", False),
        ("example.com", "a.example.com/x", False),
        ("example.com:5000", "example.com/x", False),
        ("example.com/team", "example.com/team/app", True),
        ("example.com/team", "example.com/other", False),
        ("*.*.io", "a.b.io", True),
    ],
)
def test_globs_match_part_by_part_and_paths_by_prefix(glob: str, target: str, match: bool) -> None:
    assert urls_match(glob, target) is match


def test_the_most_specific_credentials_come_first_and_the_hub_is_the_default() -> None:
    keyring = Keyring()
    keyring.add(
        {
            name: AuthConfig(username=name)
            for name in ("example.com", "https://example.com/v1/team", "https://index.docker.io/v1/")
        }
    )
    assert [t.auth.username for t in keyring.lookup("example.com/team/app")] == [
        "https://example.com/v1/team",
        "example.com",
    ]
    assert [t.auth.username for t in keyring.lookup("docker.io/library/nginx")] == ["https://index.docker.io/v1/"]
    assert keyring.lookup("other.com/x") == []


def test_pull_secrets_come_before_the_nodes_own_file_and_plugins(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        json.dumps({"auths": {"registry.example": {"username": "node", "password": "x"}}})
    )
    node = NodeCredentials([tmp_path], [lambda image: {"registry.example": AuthConfig(username="plugin")}])
    found = lookup_credentials(repository(PRIVATE), [secret("s", "registry.example", "pod", "p")], node)
    assert [t.auth.username for t in found] == ["pod", "plugin", "node"]


def test_both_kinds_of_secret_are_read_and_rubbish_is_refused() -> None:
    old = {**secret("s", "x", "a", "b"), "type": "kubernetes.io/dockercfg"}
    old["data"] = {".dockercfg": base64.b64encode(b'{"x.io": {"username": "u", "password": "p"}}').decode()}
    assert keyring_from_secrets([old]).lookup("x.io/y")[0].auth == AuthConfig(username="u", password="p")
    with pytest.raises(
        CredentialError, match=r"unable to parse auth field, must be formatted as base64\(username:password\)$"
    ):
        decode_docker_config(b'{"auths": {"x": {"auth": "bm9jb2xvbg=="}}}', nested=True)


@pytest.mark.parametrize(
    ("image", "result"),
    [
        ("nginx", "nginx:latest"),
        ("nginx:1.27", "nginx:1.27"),
        ("localhost:5000/a", "localhost:5000/a:latest"),
        (
            "Nginx:1",
            'couldn\'t parse image name "Nginx:1": invalid reference format: repository name (library/Nginx) must be lowercase',
        ),
        (
            "Not An Image",
            'couldn\'t parse image name "Not An Image": invalid reference format: '
            "repository name (library/Not An Image) must be lowercase",
        ),
        ("a b", 'couldn\'t parse image name "a b": invalid reference format'),
    ],
)
def test_image_names(image: str, result: str) -> None:
    if result.startswith("couldn't"):
        with pytest.raises(ValueError, match=re.escape(result) + "$"):
            apply_default_image_tag(image)
    else:
        assert apply_default_image_tag(image) == result


class Node:
    def __init__(self) -> None:
        self.runtime = HollowRuntime(clock=Clock(), names=NameSource(1))
        self.runtime.images.private = {"registry.example/team": ("me", "secret")}
        self.manager = ImageManager(self.runtime, Clock())
        self.events: list[tuple[str, str, str]] = []

    async def ensure(
        self, image: str, policy: str = "IfNotPresent", secrets: tuple[Object, ...] = (), uid: str = "u"
    ) -> str:
        self.manager.use_pull_secrets(uid, secrets)
        container = {"name": "c", "image": image, "imagePullPolicy": policy}
        try:
            await self.manager.ensure_image_exists(pod(uid), container, lambda *event: self.events.append(event))
        except ImageError as error:
            return error.reason
        return "ok"


RIGHT, WRONG = secret("right", "registry.example", "me", "secret"), secret("wrong", "registry.example/team", "me", "no")


def test_a_private_image_needs_the_right_secret_and_each_is_tried() -> None:
    async def main() -> None:
        node = Node()
        assert await node.ensure(PRIVATE) == "ErrImagePull"
        assert await node.ensure(PRIVATE) == "ImagePullBackOff"
        assert await node.ensure(PRIVATE, secrets=(WRONG, RIGHT), uid="v") == "ok"
        assert [event[1] for event in node.events] == ["Pulling", "Failed", "BackOff", "Pulling", "Pulled"]
        assert node.events[0] == ("Normal", "Pulling", f'Pulling image "{PRIVATE}"')
        assert node.events[1][:1] == ("Warning",)
        assert node.events[1][2].startswith(f'Failed to pull image "{PRIVATE}": ')
        assert node.events[2] == ("Normal", "BackOff", f'Back-off pulling image "{PRIVATE}"')

    run_virtual(main())


def test_a_private_image_that_is_here_is_still_not_for_everybody() -> None:
    async def main() -> None:
        node = Node()
        assert await node.ensure(PRIVATE, secrets=(RIGHT,)) == "ok"
        assert await node.ensure(PRIVATE, uid="other") == "ErrImagePull"
        assert await node.ensure(PRIVATE, "Never", uid="never") == "ErrImageNeverPull"
        renamed = {**RIGHT, "metadata": {**RIGHT["metadata"], "name": "copy", "uid": "x"}}
        node.events.clear()
        assert await node.ensure(PRIVATE, secrets=(renamed,), uid="copy") == "ok"
        assert (
            node.events[0][2]
            == f'Container image "{PRIVATE}" already present on machine and can be accessed by the pod'
        )

    run_virtual(main())


def test_pull_policies() -> None:
    async def main() -> None:
        node = Node()
        assert await node.ensure("nginx:1.27", "Never") == "ok"  # there from the start: nobody is asked
        assert await node.ensure("absent:1", "Never") == "ErrImageNeverPull"
        assert await node.ensure("nginx:1.27", "Always") == "ok"
        assert await node.ensure("Nginx:1") == "InvalidImageName"
        odd = 'couldn\'t parse image name "Nginx:1": invalid reference format: repository name (library/Nginx) must be lowercase'
        assert node.events == [
            (
                "Normal",
                "Pulled",
                'Container image "nginx:1.27" already present on machine and can be accessed by the pod',
            ),
            ("Warning", "ErrImageNeverPull", 'Container image "absent:1" is not present with pull policy of Never'),
            ("Normal", "Pulling", 'Pulling image "nginx:1.27"'),
            (
                "Normal",
                "Pulled",
                'Successfully pulled image "nginx:1.27" in 1ms (1ms including waiting). Image size: 38641288 bytes.',
            ),
            ("Warning", "InspectFailed", f'Failed to apply default image tag "Nginx:1": {odd}'),
        ]

    run_virtual(main())


def test_a_missing_pull_secret_is_a_warning_and_nothing_more() -> None:
    events: list[tuple[str, str, str]] = []

    async def get(plural: str, name: str, namespace: str) -> Object:
        if name != "right":
            raise LookupError("not found")
        return RIGHT

    which = pod()
    which["spec"]["imagePullSecrets"] = [{"name": "gone"}, {"name": "right"}, {}]
    assert run_virtual(get_pull_secrets_for_pod(which, get, lambda *event: events.append(event))) == [RIGHT]
    assert events == [
        (
            "Warning",
            "FailedToRetrieveImagePullSecret",
            "Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.",
        )
    ]
