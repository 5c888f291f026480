"""Whose the files of a volume are, as the kernel keeps it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from tests.conftest import unavailable
from tests.kubelet.volumemanager.test_volumes import PROJECTED, Cluster, manager, mount, pod

BUNDLE = {"clusterTrustBundle": {"name": "b", "path": "bundle"}}


@pytest.mark.parametrize(
    ("context", "mode", "user", "group"),
    [
        ({}, 0o644, 0, 0),
        ({"runAsUser": 1000}, 0o600, 1000, 0),
        ({"fsGroup": 10000}, 0o640, 0, 10000),
        ({"runAsUser": 1000, "fsGroup": 10000}, 0o640, 1000, 10000),
    ],
)
def test_a_token_is_the_users_alone_and_the_groups_as_the_conformance_tests_want_it(
    tmp_path: Path, context: Object, mode: int, user: int, group: int
) -> None:
    if os.geteuid():
        unavailable("root, for giving files away")
    cluster = Cluster()
    cluster.objects["clustertrustbundles.certificates.k8s.io", "b"] = {"spec": {"trustBundle": "PEM"}}
    sources = [*PROJECTED["projected"]["sources"], BUNDLE]
    mount(manager(tmp_path, cluster), pod({"name": "api", "projected": {"sources": sources}}, securityContext=context))
    for name in ("token", "bundle"):
        found = (tmp_path / "pods/u-1/volumes/kubernetes.io~projected/api" / name).stat()
        assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (mode, user, group), name
