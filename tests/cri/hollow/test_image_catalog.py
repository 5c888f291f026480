"""Which images a hollow node can pull: the table of repositories, and the rules for what it does not name."""

from __future__ import annotations

import pytest

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.hollow.image_catalog import pull_error, repositories
from lifecycle.cri.hollow.images import KIND_IMAGES, HollowImages
from lifecycle.cri.images.reference import normalized_name, split_reference

DIGEST = "sha256:" + "5" * 64


@pytest.mark.parametrize(
    "image",
    [
        "nginx",
        "nginx:1",
        "nginx:1.14.2",
        "nginx:1.27-alpine",
        "nginx:stable-perl",
        "nginx:mainline-alpine3.20-slim",
        "docker.io/nginx:1.27.3-bookworm",
        f"nginx@{DIGEST}",
        f"nginx:whatever@{DIGEST}",  # of both, the digest counts
        "busybox:1.36-musl",
        "python:3.12-slim-bookworm",
        "postgres:16.4-alpine3.20",
        "debian:bookworm-slim",
        "wordpress:php8.2-apache",
        "perl:5.40",
        "registry.k8s.io/pause:3.10",
        "registry.k8s.io/etcd:3.6.8-0",
        "registry.k8s.io/e2e-test-images/agnhost:2.53",
        "somebody/app:feature-x",
        "registry.example.com:5000/team/app",
        "ghcr.io/x/y:sha-0a1b2c",
    ],
)
def test_images_that_exist(image: str) -> None:
    assert pull_error(normalized_name(image)) == ""


@pytest.mark.parametrize(
    "image",
    [
        "nginx:no-such",
        "nginx:1.27-alpin",
        "nginx:1.27.",
        "busybox:latst",
        "registry.k8s.io/pause:three",
        "x.invalid/a/b:1",
    ],
)
def test_what_a_repository_does_not_have_is_not_found(image: str) -> None:
    name = normalized_name(image)
    assert pull_error(name) == f"{name}: not found"


@pytest.mark.parametrize(
    "image", ["ngnix", "image-that-does-not-exist", f"ngnix@{DIGEST}", "docker.io/library/nginxx:1.27"]
)
def test_a_name_that_is_no_official_image_is_denied(image: str) -> None:
    assert pull_error(normalized_name(image)).startswith("pull access denied, repository does not exist or may require")


def test_a_name_says_nothing_about_a_repository_of_somebody_s_own() -> None:
    assert pull_error(normalized_name("example.com/image-that-does-not-exist:1")) == ""


def test_what_is_not_found_is_told_as_containerd_tells_it() -> None:
    """Word for word what the recorded node's kubelet logged."""
    with pytest.raises(RuntimeServiceError) as error:
        HollowImages().pull_image("nginx:no-such-tag")
    name = "docker.io/library/nginx:no-such-tag"
    assert str(error.value) == (
        f'rpc error: code = NotFound desc = failed to pull and unpack image "{name}":'
        f' failed to resolve reference "{name}": {name}: not found'
    )


def test_an_image_that_is_here_needs_no_registry() -> None:
    images = HollowImages([(1, ("docker.io/library/mine:dev",))])
    assert images.pull_image("mine:dev").size == 1
    with pytest.raises(RuntimeServiceError, match="pull access denied"):
        images.pull_image("mine:other")


def test_what_is_pulled_by_its_digest_has_no_tag() -> None:
    image = HollowImages().pull_image(f"nginx:1.27@{DIGEST}")
    assert (image.repo_tags, image.repo_digests) == ((), (f"docker.io/library/nginx@{DIGEST}",))


def test_the_images_of_the_recorded_nodes_are_in_the_catalogue() -> None:
    for _, names in KIND_IMAGES:
        assert [pull_error(name) for name in names] == [""] * len(names)


def test_no_pattern_of_the_table_is_malformed() -> None:
    for repository in repositories().values():
        assert (
            repository.has("latest") or repository.name.partition("/")[0] != "docker.io" or "kindest" in repository.name
        )
        assert not repository.has("no such tag")


def test_a_reference_is_taken_apart() -> None:
    assert split_reference("localhost:5000/a/b:c@sha256:1") == ("localhost:5000/a/b", "c", "sha256:1")
    assert split_reference("localhost:5000/a") == ("localhost:5000/a", "", "")


def test_an_image_says_whom_it_is_for_as_far_as_that_was_recorded() -> None:
    images = HollowImages()
    coredns, nginx = (images.image_status(name) for name in ("registry.k8s.io/coredns/coredns:v1.14.2", "nginx:1.27"))
    assert coredns is not None
    assert nginx is not None
    assert (coredns.uid, nginx.uid) == (65532, None)
    assert [images.group_of(coredns, uid) for uid in (65532, 1000, 0)] == [65532, 0, 0]
    assert images.group_of(nginx, 65532) == 0
