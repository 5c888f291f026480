"""Manifests that need no API server: what is refused of them, what they become, and how they come from a URL."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.kubelet.config.apply_defaults import apply_defaults, decode_pods
from lifecycle.kubelet.config.http import HTTP_CHECK_FREQUENCY, SourceURL
from lifecycle.kubelet.types.update_channel import UpdateChannel

POD = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}}


def test_one_pod_or_a_list_in_yaml_or_json() -> None:
    assert decode_pods(json.dumps(POD).encode(), "w") == [POD]
    assert decode_pods(b"kind: PodList\nitems: []\n", "w") == []
    assert decode_pods(b"kind: PodList\n", "w") == []
    assert decode_pods(json.dumps({"kind": "PodList", "items": [POD, POD]}).encode(), "w") == [POD, POD]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": "Service"}, "couldn't parse as pod(Object 'Kind' is missing), please check config file"),
        ([], "couldn't parse as pod(Object 'Kind' is missing), please check config file"),
        ({}, "couldn't parse as pod(Object 'Kind' is missing), please check config file"),
        *(
            (pod, "invalid pod: metadata.name and spec.containers are required")
            for pod in (
                {"kind": "Pod"},
                {**POD, "metadata": None},
                {**POD, "metadata": {"name": ""}},
                {**POD, "spec": {}},
                {**POD, "spec": {"containers": []}},
                {"kind": "PodList", "items": [POD, {"kind": "Pod"}]},
            )
        ),
    ],
)
def test_what_is_no_pod_is_said_with_its_place(document: Any, said: str) -> None:
    with pytest.raises(ValueError, match=r"^where: ") as refused:
        decode_pods(json.dumps(document).encode(), "where")
    assert str(refused.value) == f"where: {said}"


def test_what_is_no_yaml_is_said_as_well() -> None:
    with pytest.raises(ValueError, match=r"^where: couldn't parse as pod\((.|\n)*\), please check config file$"):
        decode_pods(b"a: [", "where")


def static(pod: dict[str, Any], source: str = "file", origin: str = "/m/a.yaml", node: str = "N1") -> dict[str, Any]:
    return apply_defaults(pod, source, origin, node, "now")


def test_a_static_pod_is_the_nodes() -> None:
    pod = static(POD)
    assert (pod["apiVersion"], pod["kind"], pod["status"]) == ("v1", "Pod", {"phase": "Pending"})
    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("web-n1", "default")
    assert (pod["spec"]["nodeName"], pod["spec"]["restartPolicy"]) == ("N1", "Always")
    assert pod["spec"]["tolerations"] == [{"operator": "Exists", "effect": "NoExecute"}]
    uid = pod["metadata"]["uid"]
    assert pod["metadata"]["annotations"] == {
        "kubernetes.io/config.hash": uid,
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.seen": "now",
    }
    assert "nodeName" not in POD["spec"], "the manifest is left as it is"


def test_what_a_manifest_says_itself_is_kept() -> None:
    everything = {"operator": "Exists", "effect": "NoExecute"}
    metadata = {"name": "web", "namespace": "shop", "uid": "mine", "annotations": {"a": "b"}}
    pod = static({**POD, "metadata": metadata, "spec": {**POD["spec"], "tolerations": [everything]}})
    assert (pod["metadata"]["uid"], pod["metadata"]["namespace"]) == ("mine", "shop")
    assert pod["metadata"]["annotations"]["a"] == "b"
    assert pod["metadata"]["annotations"]["kubernetes.io/config.hash"] == "mine"
    assert pod["spec"]["tolerations"] == [everything]


def test_a_uid_is_made_from_the_contents_and_where_they_came_from() -> None:
    contents = json.dumps(POD, sort_keys=True, separators=(",", ":"))
    for source, origin, words in (("file", "/m", "host:N1file:/m"), ("http", "http://m", "url:http://m")):
        digest = hashlib.md5((contents + words).encode(), usedforsecurity=False).hexdigest()
        assert static(POD, source, origin)["metadata"]["uid"] == digest


class Session:
    """Answers one after the other: status and body."""

    def __init__(self, *answers: tuple[int, bytes] | Exception) -> None:
        self.answers, self.asked = list(answers), list[str]()

    def get(self, url: str) -> Session:
        self.asked.append(url)
        return self

    async def __aenter__(self) -> Any:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer

        async def read() -> bytes:
            return answer[1]

        return SimpleNamespace(read=read, status=answer[0], reason="Teapot")

    async def __aexit__(self, *_: object) -> None:
        """Nothing is held."""


def fetched(*answers: Any) -> tuple[list[list[str]], list[str]]:
    """The names that were sent each time, and what went wrong."""
    sent: list[list[str]] = []
    wrong: list[str] = []

    async def main() -> None:
        source = SourceURL(
            "http://m", "n", lambda pods: sent.append([pod["metadata"]["name"] for pod in pods]), Clock()
        )
        session: Any = Session(*answers)
        for _ in answers:
            try:
                await source.fetch(session)
            except ValueError as error:
                wrong.append(str(error))
        assert set(session.asked) == {"http://m"}

    run_virtual(main())
    return sent, wrong


ONE, OTHER = json.dumps(POD).encode(), json.dumps({**POD, "metadata": {"name": "db"}}).encode()


def test_only_what_is_new_is_sent() -> None:
    assert fetched((200, ONE), (200, ONE), (200, OTHER), (200, ONE)) == ([["web-n"], ["db-n"], ["web-n"]], [])


def test_an_empty_answer_takes_all_away_and_is_wrong() -> None:
    assert fetched((200, ONE), (200, b"")) == ([["web-n"], []], ["zero-length data received from http://m"])


def test_a_refusal_or_rubbish_leaves_what_was_said_last() -> None:
    sent, wrong = fetched((200, ONE), (418, OTHER), (200, b"kind: X"), (200, b"kind: X"), (200, ONE), (200, ONE))
    assert sent == [["web-n"], ["web-n"]]
    assert wrong == [
        "http://m: 418 Teapot",
        "http://m: couldn't parse as pod(Object 'Kind' is missing), please check config file",
    ]


def test_a_url_is_asked_every_twenty_seconds_whatever_it_says(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = Session((500, b"x"), aiohttp.ClientError("no route"), TimeoutError("too slow"), (200, ONE))
    sent: list[Any] = []

    class Opened:
        def __init__(self, timeout: aiohttp.ClientTimeout) -> None:
            assert timeout.total == 10

        async def __aenter__(self) -> Session:
            return session

        async def __aexit__(self, *_: object) -> None:
            """Nothing is held."""

    async def main() -> None:
        monkeypatch.setattr(aiohttp, "ClientSession", Opened)
        running = asyncio.ensure_future(SourceURL("http://m", "n", sent.append, Clock()).run())
        for count in (1, 2, 3, 4, 5):
            await asyncio.sleep(19.9 if count == 1 else HTTP_CHECK_FREQUENCY)
            assert len(session.asked) == count
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert HTTP_CHECK_FREQUENCY == 20.0
    with caplog.at_level(logging.WARNING):
        run_virtual(main())
    assert [record.getMessage() for record in caplog.records] == [
        "failed to read pods from URL: http://m: 500 Teapot",
        "failed to read pods from URL: no route",
        "failed to read pods from URL: too slow",
    ]
    assert len(sent) == 1


def test_messages_wait_for_a_reader_and_come_in_order_also_from_within_a_handler() -> None:
    channel, read = UpdateChannel[int](), list[str]()
    channel.send(1)
    channel.send(2)

    def reader(update: int) -> None:
        read.append(f"begin {update}")
        if update == 3:
            channel.send(4)
        read.append(f"end {update}")

    channel.receive(reader)
    assert read == ["begin 1", "end 1", "begin 2", "end 2"]
    channel.send(3)
    assert read[4:] == ["begin 3", "end 3", "begin 4", "end 4"]
    channel.send(5)
    assert read[8:] == ["begin 5", "end 5"]


def test_a_reader_that_fails_does_not_end_the_stream() -> None:
    channel, read = UpdateChannel[int](), list[int]()

    def reader(update: int) -> None:
        if update == 1:
            raise RuntimeError("not this one")
        read.append(update)

    channel.receive(reader)
    with pytest.raises(RuntimeError):
        channel.send(1)
    channel.send(2)
    assert read == [2]
