# ruff: noqa: E501 -- lines of objects, and of commands
"""Kubeconfigs that cannot be used, or only look so: what the real kubectl 1.36 says about them, as it was kept.

`KEEP=anew pytest` asks it again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.kubectl.staged import Scene, check

KEPT = Path(__file__).parent / "staged_answers" / "kubeconfigs.json"


def config(user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **more: Any) -> dict[str, str]:
    """A kubeconfig with one of each. `more`: other fields of it."""
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        **more,
    }
    return {"config": json.dumps(whole)}


def plugin(**parts: Any) -> dict[str, Any]:
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "x", "interactiveMode": "Never", **parts}
    }


GET = ["get pods"]
CHANGES = [
    "config current-context",
    "config use-context nope",
    "config set-cluster ''",
    "config set-cluster k --embed-certs",
    "config set-cluster k --embed-certs --certificate-authority=HOME/nope",
    "config set-cluster k --certificate-authority=HOME/nope --insecure-skip-tls-verify",
    "config set-cluster k --certificate-authority=HOME/nope",
    "config set-credentials ''",
    "config set-credentials u --embed-certs",
    "config set-credentials u --embed-certs --client-key=HOME/nope",
    "config set-credentials u --token=t --username=x",
    "config set-credentials u --exec-command=x --exec-env=a=b --exec-arg=c",
    "config set-context",
    "config set-context ''",
    "config set-context --current --namespace=n",
    "config set-context c --current",
    "config set nope b",
    "config set '' b",
    "config set users.u.token b",
    "config set clusters.k.insecure-skip-tls-verify maybe",
    "config set clusters.k.certificate-authority-data notbase64!",
    "config set contexts.c.namespace.x b",
    "config unset nope",
    "config unset users",
    "config unset users.u",
    "config unset users.nope",
    "config unset users.u.token",
    "config unset contexts.c.namespace.x",
    "config unset ''",
    "config delete-context nope",
    "config delete-cluster nope",
    "config delete-user nope",
    "config rename-context nope b",
    "config rename-context c c",
    "config get-contexts nope",
    "config get-contexts -o bad",
    "config get-contexts -o name",
    "config get-clusters",
    "config get-users",
    "config view --minify --context=nope",
    "config view --flatten",
    "config view --raw",
    "config view --minify",
    "config view -o json",
]
USERS: dict[str, dict[str, Any]] = {
    "token and name": {"token": "t", "username": "n"},
    "name and password": {"username": "n", "password": "p", "token": "t"},
    "certificate without key": {"client-certificate-data": "Q0E="},
    "certificate twice": {"client-certificate": "HOME/nope", "client-certificate-data": "Q0E=", "client-key-data": "Q0E="},
    "key twice": {"client-certificate-data": "Q0E=", "client-key": "HOME/nope", "client-key-data": "Q0E="},
    "no certificate there": {"client-certificate": "HOME/nope", "client-key": "HOME/nope"},
    "groups of nobody": {"as-groups": ["g"]},
    "a UID of nobody": {"as-uid": "1"},
    "more of nobody": {"as-user-extra": {"a": ["b"]}},
    "no command": plugin(command=""),
    "no version": plugin(apiVersion=""),
    "no mode": plugin(interactiveMode=""),
    "an odd mode": plugin(interactiveMode="Maybe"),
    "an old version": plugin(apiVersion="client.authentication.k8s.io/v1alpha1"),
    "another version": plugin(apiVersion="x/v1"),
    "a nameless variable": plugin(env=[{"name": "", "value": "a"}]),
    "a plugin and a provider": {**plugin(), "auth-provider": {"name": "oidc"}},
    "a plugin that is not there": plugin(command="HOME/nope"),
    "a plugin that is a folder": plugin(command="HOME"),
    "a plugin that fails": plugin(command="false"),
    "a plugin that says nothing": plugin(command="true"),
    "a plugin that says a word": plugin(command="echo", args=["word"]),
    "a plugin that says JSON": plugin(command="echo", args=["{}"]),
    "a plugin that says a number": plugin(command="echo", args=["1"]),
    "a plugin of another kind": plugin(command="echo", args=['{"kind":"Pod","apiVersion":"v1"}']),
    "a plugin of another version": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"t"}}']),
    "a plugin without status": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}']),
    "a plugin without token": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{}}']),
    "a plugin with half a pair": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientKeyData":"x"}}']),
    "a plugin whose status is a word": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":"x"}']),
    "a plugin whose token is a number": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":5}}']),
    "a plugin whose certificate is a list": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":[1]}}']),
    "a plugin whose answer ends soon": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":"soon"}}']),
    "a plugin whose answer ends at a number": plugin(command="echo", args=['{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"t","expirationTimestamp":7}}']),
    "a plugin whose kind is a number": plugin(command="echo", args=['{"kind":5,"apiVersion":"client.authentication.k8s.io/v1"}']),
    "a plugin that must ask": plugin(command="echo", interactiveMode="Always"),
    "a hint for who lacks it": plugin(command="HOME/nope", installHint="install it"),
    "no token file": {"tokenFile": "HOME/nope"},
    "an unknown provider": {"auth-provider": {"name": "nope"}},
    "OpenID without settings": {"auth-provider": {"name": "oidc"}},
    "OpenID without an issuer": {"auth-provider": {"name": "oidc", "config": {"client-id": "a"}}},
    "a key of nonsense": {"client-certificate-data": "Q0E=", "client-key-data": "Q0E="},
}  # fmt: skip
CLUSTERS: dict[str, dict[str, Any]] = {
    "no server": {"server": ""},
    "an authority twice": {"certificate-authority": "HOME/nope", "certificate-authority-data": "Q0E="},
    "no authority there": {"certificate-authority": "HOME/nope"},
}
FLAGS = ["--context=nope", "--cluster=nope", "--user=nope", "--kubeconfig=HOME/nope", "--as-group=g", "--as-uid=u", "--as-user-extra=a=b", "--token=t --username=u", "--certificate-authority=HOME/nope",
         "--client-certificate=HOME/nope", "--client-key=HOME/nope --client-certificate=HOME/nope", "--request-timeout=x", "-v=x", "--insecure-skip-tls-verify --certificate-authority=HOME/nope"]  # fmt: skip
TEXTS = {
    "not YAML": "a: b: c",
    "a list": "[]",
    "a word": "word",
    "a list of contexts that is none": '{"apiVersion":"v1","kind":"Config","contexts":"x"}',
    "another kind": "apiVersion: v1\nkind: Pod\n",
    "another version": "apiVersion: v9\nkind: Config\n",
    "no kind": "contexts: []\n",
    "tabs": "\tapiVersion: v1\n",
    "a number for a name": "apiVersion: v1\nkind: Config\ncurrent-context: 1\n",
    "a field of another type": '{"apiVersion":"v1","kind":"Config","clusters":[{"name":"k","cluster":{"insecure-skip-tls-verify":"yes"}}]}',
    "no base64": '{"apiVersion":"v1","kind":"Config","clusters":[{"name":"k","cluster":{"certificate-authority-data":"!"}}]}',
    "half base64": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"client-key-data":"Q0E"}}]}',
    "base64 and more": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"client-key-data":"Q0E=x"}}]}',
    "a word for a cluster": '{"apiVersion":"v1","kind":"Config","clusters":["x"]}',
    "a word for what a cluster is": '{"apiVersion":"v1","kind":"Config","clusters":[{"name":"k","cluster":"x"}]}',
    "a number for a cluster's name": '{"apiVersion":"v1","kind":"Config","clusters":[{"name":1,"cluster":{}}]}',
    "a list for a namespace": '{"apiVersion":"v1","kind":"Config","contexts":[{"name":"c","context":{"namespace":[]}}]}',
    "a truth for a token": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"token":true}}]}',
    "an object for users": '{"apiVersion":"v1","kind":"Config","users":{}}',
    "a word for a plugin": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":"x"}}]}',
    "a word for a plugin's arguments": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"args":"x"}}}]}',
    "a number for a plugin's argument": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"args":[1]}}}]}',
    "a word for a plugin's variable": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"env":["x"]}}}]}',
    "a number for a plugin's variable": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"env":[{"name":"a","value":1}]}}}]}',
    "a list for a plugin's command": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"command":[]}}}]}',
    "a word for the cluster's info": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"provideClusterInfo":"yes"}}}]}',
    "a word for a provider": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"auth-provider":"x"}}]}',
    "a list for a provider's settings": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"auth-provider":{"name":"oidc","config":[]}}}]}',
    "a word for groups": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"as-groups":"x"}}]}',
    "a word for extras": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"as-user-extra":"x"}}]}',
    "nothing for a cluster": '{"apiVersion":"v1","kind":"Config","clusters":[null]}',
    "nothing for what a user is": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":null}]}',
    "nothing for a variable": '{"apiVersion":"v1","kind":"Config","users":[{"name":"u","user":{"exec":{"env":[null],"args":null}}}]}',
    "fields that nobody knows": '{"apiVersion":"v1","kind":"Config","nope":1,"clusters":[{"name":"k","nope":1}]}',
}
CONTEXTS = {
    "no context": config(**{"current-context": ""}),
    "a context that is not there": config(**{"current-context": "nope"}),
    "a context of a cluster that is not there": config(
        contexts=[{"name": "c", "context": {"cluster": "nope", "user": "u"}}]
    ),
    "an empty context": config(contexts=[{"name": "c", "context": {}}]),
}
SECRETS = config(
    {
        "token": "t",
        "password": "p",
        "username": "u",
        "client-key-data": "Q0E=",
        "auth-provider": {"name": "oidc", "config": {"a": "b", "client-secret": "s", "id-token": "t"}},
    },
    {"certificate-authority-data": "Q0E="},
)

SCENES = {f"a user: {name}": Scene({}, GET, files=config(user)) for name, user in USERS.items()}
SCENES |= {f"a cluster: {name}": Scene({}, GET, files=config({}, cluster)) for name, cluster in CLUSTERS.items()}
SCENES |= {
    name: Scene({}, [*GET, "config current-context", "config view --minify"], files=files)
    for name, files in CONTEXTS.items()
}
SCENES |= {
    f"a file: {name}": Scene(
        {}, [*GET, "config view", "config current-context", "config set-context a"], files={"config": text}
    )
    for name, text in TEXTS.items()
}
SCENES |= {
    "flags": Scene({}, [f"get pods {each}" for each in FLAGS], files=config()),
    "changes": Scene({}, CHANGES, files=config()),
    "changes without a context": Scene(
        {},
        ["config set-context --current --namespace=n", "config current-context", "config view --minify"],
        files=config(**{"current-context": ""}),
    ),
    "secrets": Scene(
        {}, ["config view", "config view --raw", "config view --flatten", "config view --minify -o json"], files=SECRETS
    ),
    "files that are not there": Scene(
        {},
        ["config view --flatten", "config view --minify --flatten", "config view"],
        files=config({"client-key": "HOME/nope", "client-certificate": "nope"}),
    ),
}


@pytest.mark.parametrize(("name", "line"), [(name, line) for name, scene in SCENES.items() for line in scene.lines])
def test_the_same_is_said(name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(name, SCENES[name], line, KEPT, tmp_path, monkeypatch)
