"""Secrets and tokens appear in no log, event, metric, object of another kind, audit event, process list or trace.

A cluster is taken through a journey with marked values: a Secret's data as a variable and as a file, credentials for a registry, a
bootstrap token, a token of a file, tokens of service accounts, a wrong password. Everything is said that the programs can say (the level
is DEBUG, the audit policy is the strictest that keeps bodies to itself where they are secret), and everything that was written is
searched, in clear and in base64.

What is *meant* to have them has them, as upstream's does, and the last tests say so: an audit level with bodies records a Secret whole.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources, resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.audit.options import AuditOptions
from lifecycle.apiserver.authn.options import AuthenticationOptions
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from lifecycle.client.rest import Client
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.apiserver.encryption_files import key, provider, write
from tests.cli.run.lone_component import PATIENCE, LoneComponent, until

MARKS = {
    "a Secret's data": "marked-data-of-a-secret",
    "a registry's password": "marked-password-of-a-registry",
    "a wrong registry password": "marked-wrong-password",
    "a token of the file": "marked-token-of-the-file",
    "a wrong token": "marked-wrong-token",
    "a bootstrap token": "markedbootstrap1",
}
KEYS = {"the key for what is at rest": key("key1", "1")["secret"]}
JWT = re.compile(r"eyJ[\w-]{16,}\.eyJ[\w-]{16,}\.[\w-]{16,}")
PRIVATE_KEY = re.compile(r"PRIVATE KEY-----")

BODIES_BUT_OF_SECRETS: Object = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "rules": [
        {
            "level": "Metadata",
            "resources": [
                {"group": "", "resources": ["secrets", "configmaps", "serviceaccounts/token"]},
                {"group": "authentication.k8s.io", "resources": ["tokenreviews"]},
            ],
        },
        {"level": "RequestResponse"},
    ],
}
"""As the documentation advises: of what holds secrets only that it was asked for."""


def forms(text: str) -> list[str]:
    """In clear, and as a Secret carries it: base64 of it, at each of the three places where it may begin."""
    encoded = [base64.b64encode(b"\0" * skip + text.encode()).decode() for skip in range(3)]
    return [text, *(each[4 if skip else 0 : len(each) - 4].rstrip("=") for skip, each in enumerate(encoded))]


def leaks(text: str) -> set[str]:
    """What of the marks is in a text, by name; and tokens and private keys of any kind."""
    names = {name for name, mark in {**MARKS, **KEYS}.items() for form in forms(mark) if form in text}
    names |= {"a token of a service account"} if JWT.search(text) else set()
    return names | ({"a private key"} if PRIVATE_KEY.search(text) else set())


def pod(name: str, **spec: object) -> Object:
    container = {
        "name": "c",
        "image": "nginx",
        "env": [{"name": "FROM_SECRET", "valueFrom": {"secretKeyRef": {"name": "marked", "key": "k"}}}],
        "volumeMounts": [{"name": "files", "mountPath": "/files"}],
    }
    volumes = [{"name": "files", "secret": {"secretName": "marked"}}]
    return {"metadata": {"name": name}, "spec": {"containers": [container], "volumes": volumes, **spec}}


def secrets() -> list[tuple[str, Object]]:
    def registry(name: str) -> str:
        auth = base64.b64encode(f"reader:{MARKS[name]}".encode()).decode()
        return json.dumps(
            {"auths": {"registry.example": {"username": "reader", "password": MARKS[name], "auth": auth}}}
        )

    def made(name: str, kind: str = "Opaque", **data: str) -> Object:
        return {"metadata": {"name": name}, "type": kind, "stringData": data}

    docker = "kubernetes.io/dockerconfigjson"
    bootstrap = {
        "token-id": "abcdef", "token-secret": MARKS["a bootstrap token"], "usage-bootstrap-authentication": "true",
    }  # fmt: skip
    return [
        ("default", made("marked", k=MARKS["a Secret's data"])),
        ("default", made("registry", docker, **{".dockerconfigjson": registry("a registry's password")})),
        ("default", made("wrong", docker, **{".dockerconfigjson": registry("a wrong registry password")})),
        ("kube-system", made("bootstrap-token-abcdef", "bootstrap.kubernetes.io/token", **bootstrap)),
    ]


@dataclass
class Written:
    """Everything that the journey has left, by where it stands. `kinds`: how many objects of other kinds were searched."""

    texts: dict[str, str]
    kinds: int
    running: int


async def journey(cluster: BackgroundCluster) -> dict[str, str]:
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")
    async with asyncio.timeout(PATIENCE):
        for namespace, each in secrets():
            await client.create(resource("secrets"), each, namespace)
        for name, spec in {
            "a": {"imagePullSecrets": [{"name": "registry"}]},
            "b": {"imagePullSecrets": [{"name": "wrong"}]},
        }.items():
            await client.create(resource("pods"), pod(name, **spec), "default")
        broken = pod("broken")
        broken["spec"]["containers"][0]["env"][0]["valueFrom"]["secretKeyRef"]["key"] = "absent"
        await client.create(resource("pods"), broken, "default")
        await until(
            client,
            "pods",
            "default",
            lambda items: sum(each["status"].get("phase") == "Running" for each in items) == 2,
        )
        with pytest.raises(StatusError):  # refused, and the complaint is about the data
            await client.create(
                resource("secrets"),
                {
                    "metadata": {"name": "No"},
                    "data": {"k": base64.b64encode(MARKS["a Secret's data"].encode()).decode()},
                },
                "default",
            )
        await client.patch(resource("secrets"), "marked", "default", {"metadata": {"labels": {"changed": "yes"}}})
        review = {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": MARKS["a wrong token"]},
        }  # fmt: skip
        await client.create(resource("tokenreviews.authentication.k8s.io"), review)
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        await client.create(resource("serviceaccounts"), {"metadata": {"name": "sa"}}, "default")
        await client.create(resource("serviceaccounts"), request, "default", name="sa", subresource="token")
        return await everything(client)


async def everything(client: Client) -> dict[str, str]:
    """All objects but Secrets, by kind."""
    texts = {}
    for row in all_resources():
        if "list" in row.verbs and row.plural != "secrets":
            texts[f"{row.plural} of {row.group or 'core'}/{row.version}"] = json.dumps(await listed(client, row))
    return texts


async def listed(client: Client, row: Resource) -> list[Object]:
    answer = await client.list(row)
    return list(answer["items"])


def ask(cluster: BackgroundCluster, path: str, token: str) -> str:
    """As a client of the outside, with a bearer token."""
    assert cluster.cluster is not None
    tls = ssl.create_default_context(cadata=cluster.cluster.server.certificates.ca_pem.decode())
    request = urllib.request.Request(cluster.url + path, headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, context=tls, timeout=PATIENCE) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.read().decode()


class Listener(logging.Handler):
    """Everything that any logger says, at any level."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    where = tmp_path_factory.mktemp("marked")
    tokens = where / "tokens.csv"
    tokens.write_text(f'{MARKS["a token of the file"]},jane,7,"system:masters"\n')
    policy = where / "policy.yaml"
    policy.write_text(yaml.safe_dump(BODIES_BUT_OF_SECRETS))
    config = ClusterConfig(
        nodes=1,
        store=f"sqlite:{where / 'objects.db'}",
        authentication=AuthenticationOptions(token_auth_file=tokens),
        encryption=EncryptionOptions(
            write(where / "encryption.json", provider("secretbox", "key1"), resources=("*.*",))
        ),
        audit=AuditOptions(policy_file=policy, log_path=where / "audit.jsonl"),
    )
    listener, root = Listener(), logging.getLogger()
    loggers = (root, logging.getLogger("asyncio"))
    before = [logger.level for logger in loggers]
    root.addHandler(listener)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    try:
        with BackgroundCluster(config) as cluster:
            texts = cluster.run(journey(cluster))
            kinds = len(texts)
            for name in ("a token of the file", "a wrong token"):
                for path in ("/api/v1/nodes", "/metrics", "/flagz", "/statusz", "/readyz?verbose"):
                    texts[f"{path} with {name}"] = ask(cluster, path, MARKS[name])
            ask(cluster, "/api", f"abcdef.{MARKS['a bootstrap token']}")
            kubeconfig = where / "kubeconfig"
            cluster.cluster.write_kubeconfig(kubeconfig, "x")
            with LoneComponent("scheduler", "-vv", "--kubeconfig", kubeconfig, ready=False, program=True) as component:
                component.hear("standing by|leading")
                texts |= processes([component.process.pid])
            texts["what a component said"] = "\n".join(component.said + component.printed)
            texts["a trace"] = traced(where)
            texts["what a kubectl said"] = kubectl(cluster, where)
            running = texts["pods of core/v1"].count('"phase": "Running"')
    finally:
        root.removeHandler(listener)
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
    texts["the log"] = "\n".join(listener.lines)
    texts["the audit log"] = (where / "audit.jsonl").read_text()
    for file in where.glob("objects.db*"):
        if file.is_file():
            texts[f"the store's {file.name}"] = file.read_bytes().decode("latin-1")
    return Written(texts, kinds, running)


def processes(pids: list[int]) -> dict[str, str]:
    """Command line and environment of this process and of others."""
    return {
        f"{file} of {pid}": Path(f"/proc/{pid}/{file}").read_text(errors="replace")
        for pid in [os.getpid(), *pids]
        for file in ("cmdline", "environ")
        if Path(f"/proc/{pid}/{file}").exists()
    }


def traced(where: Path) -> str:
    """The journey of a Secret through a cluster of its own, stage by stage."""
    file = where / "secret.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Secret", **secrets()[0][1]}))
    words = ["trace", "--", "kubectl", "create", "-f", str(file)]
    done = subprocess.run([sys.executable, "-m", "lifecycle", *words], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def kubectl(cluster: BackgroundCluster, where: Path) -> str:
    """Ours, as talkative as it may be before it prints bodies (`-v=8`, as the real one does), with a token."""
    assert cluster.cluster is not None
    ca = where / "ca.crt"
    ca.write_bytes(cluster.cluster.server.certificates.ca_pem)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": cluster.url, "certificate-authority": str(ca)}}],
        "users": [{"name": "u", "user": {"token": MARKS["a token of the file"]}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    file = where / "token.kubeconfig"
    file.write_text(json.dumps(config))
    said = ""
    for words in (["get", "secrets"], ["get", "secrets", "-o", "name"], ["config", "view"]):
        command = [
            sys.executable,
            "-m",
            "lifecycle",
            "kubectl",
            "--kubeconfig",
            str(file),
            *words,
            "-v=6",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr
        said += done.stdout + done.stderr
    return said


def test_no_secret_is_written_where_it_does_not_belong(written: Written) -> None:
    assert {place: leaks(text) for place, text in written.texts.items() if leaks(text)} == {}


def test_the_journey_was_one(written: Written) -> None:
    """What is searched is there: events, logs, audit events of every kind, the store."""
    assert written.running >= 2
    assert written.kinds > 50
    events = written.texts["events of core/v1"]
    assert "CreateContainerConfigError" in written.texts["pods of core/v1"] or "couldn't find key absent" in events
    for place in (
        "a trace",
        "the log",
        "the audit log",
        "the store's objects.db",
        "what a component said",
        "what a kubectl said",
    ):
        assert len(written.texts[place]) > 60, place
    audit = [json.loads(line) for line in written.texts["the audit log"].splitlines()]
    asked = {(each["objectRef"]["resource"], each["verb"]) for each in audit if "objectRef" in each}
    assert {
        ("secrets", "create"),
        ("secrets", "get"),
        ("tokenreviews", "create"),
        ("serviceaccounts", "create"),
    } <= asked
    assert {each["level"] for each in audit} == {"Metadata", "RequestResponse"}
    assert any(each["user"]["username"] == "jane" for each in audit)


@pytest.mark.parametrize("name", MARKS)
def test_the_search_would_see_each_of_them(name: str) -> None:
    mark = MARKS[name]
    for text in (
        f"x{mark}y",
        base64.b64encode(f"{{'password': '{mark}'}}".encode()).decode(),
        base64.b64encode(f"reader:{mark}".encode()).decode(),
        base64.b64encode(f"a reader:{mark}!!".encode()).decode(),
    ):
        assert name in leaks(text), text


def test_an_audit_level_with_bodies_records_a_secret_whole_as_upstreams_does(tmp_path: Path) -> None:
    """Nothing is blotted out in a body: who asks for bodies gets them. So the policy above asks for none of Secrets."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump({**BODIES_BUT_OF_SECRETS, "rules": [{"level": "RequestResponse"}]}))
    audit = AuditOptions(policy_file=policy, log_path=tmp_path / "audit.jsonl")
    with BackgroundCluster(
        ClusterConfig(nodes=1, without=("scheduler", "kubelet", "proxy", "dns"), audit=audit)
    ) as cluster:
        assert cluster.cluster is not None
        client = cluster.cluster.client("kubectl")
        cluster.run(client.create(resource("secrets"), secrets()[0][1], "default"))
    assert leaks((tmp_path / "audit.jsonl").read_text()) >= {"a Secret's data"}


LABS = Path(__file__).parents[2] / "labs"


@pytest.mark.parametrize("notebook", sorted(path.name for path in LABS.glob("*.ipynb")))
def test_no_notebook_keeps_a_token_or_a_key_in_its_output(notebook: str) -> None:
    cells = json.loads((LABS / notebook).read_text())["cells"]
    assert leaks(json.dumps([cell.get("outputs") for cell in cells])) == set()
