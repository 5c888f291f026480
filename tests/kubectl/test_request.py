"""The stages of a request: buckets, retries, warnings, traces, and what they keep secret."""

from __future__ import annotations

import asyncio
import io
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.kubectl.failures import CommandError, ConnectionFailed
from lifecycle.kubectl.global_flags import global_flags, parse_timeout
from lifecycle.kubectl.request.debugging import DebuggingTransport, hex_dump, klog_line, mask_value, truncate_body
from lifecycle.kubectl.request.throttling import MAX_RETRIES, RetryTransport, TokenBucket
from lifecycle.kubectl.request.warnings import WarningWriter, parse_warning_headers
from tests.kubectl.fake_server import kubectl


class Script:
    """Answers from a list, the last for ever; notes when it was asked."""

    def __init__(self, *answers: Response | ConnectionFailed) -> None:
        self.answers = list(answers)
        self.at: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        self.at.append(asyncio.get_running_loop().time())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ConnectionFailed):
            raise answer
        return answer

    async def close(self) -> None:
        pass


BUSY = Response(429, {"retry-after": "3"})
GET, POST = Request("GET", "/x"), Request("POST", "/x")


def sent(script: Script, request: Request = GET, **more):
    log = io.StringIO()
    transport = RetryTransport(script, TokenBucket(5, 10), log=log.write, **more)
    return run_virtual(transport.round_trip(request)), log.getvalue()


def test_the_server_says_how_long_to_wait():
    script = Script(BUSY, BUSY, Response(200))
    answer, log = sent(script, level=4)
    assert answer.status == 200
    assert [round(at - script.at[0]) for at in script.at] == [0, 3, 6]
    assert log.count("Got a Retry-After response") == 2
    assert 'delay="3s" attempt=1' in log


def test_ten_times_and_no_more():
    script = Script(BUSY)
    assert sent(script)[0].status == 429
    assert len(script.at) == MAX_RETRIES + 1


@pytest.mark.parametrize(
    "answer", [Response(429), Response(404, {"retry-after": "1"}), Response(503, {"retry-after": "soon"})]
)
def test_what_names_no_time_is_final(answer):
    script = Script(answer)
    sent(script)
    assert len(script.at) == 1


@pytest.mark.parametrize(("request_", "times"), [(GET, 2), (POST, 1)])
def test_a_broken_connection_is_tried_again_for_reading_only(request_, times):
    script = Script(ConnectionFailed("EOF", "eof", "h"), Response(200))
    if times == 2:
        assert sent(script, request_)[0].status == 200
    else:
        with pytest.raises(ConnectionFailed):
            sent(script, request_)
    assert len(script.at) == times


@given(st.integers(1, 20), st.integers(1, 50), st.integers(1, 60))
def test_a_bucket_lets_burst_pass_and_then_qps(burst, qps, requests):
    async def waits() -> list[float]:
        bucket = TokenBucket(qps, burst)
        return [bucket.reserve(0.0) for _ in range(requests)]

    waited = run_virtual(waits())
    for i, delay in enumerate(waited):
        assert delay == pytest.approx(max(0, i + 1 - burst) / qps)


def test_throttling_is_told_when_it_takes_long():
    script, log = Script(Response(200)), io.StringIO()

    async def many() -> None:
        transport = RetryTransport(script, TokenBucket(1, 1), log=log.write, level=0)
        for _ in range(3):
            await transport.round_trip(GET)

    run_virtual(many())
    assert [round(at - script.at[0]) for at in script.at] == [0, 1, 2]
    assert "client-side throttling" not in log.getvalue(), "one second is not yet extra long"


@pytest.mark.parametrize(
    ("header", "texts"),
    [
        ('299 - "one"', ["one"]),
        ('299 - "one, and \\"more\\"", 299 - "two"', ['one, and "more"', "two"]),
        ('199 - "other"', []),
        ("nonsense", []),
        ("", []),
    ],
)
def test_warnings_are_read_as_they_are_quoted(header, texts):
    assert [text for code, _, text in parse_warning_headers(header) if code == 299] == texts


def test_a_warning_is_printed_once():
    err = io.StringIO()
    writer = WarningWriter(err.write)
    for _ in range(2):
        writer.handle('299 - "deprecated"')
    assert err.getvalue() == "Warning: deprecated\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Bearer secret", "Bearer <masked>"),
        ("Basic c2VjcmV0", "Basic <masked>"),
        ("negotiate", "negotiate"),
        ("secret", "<masked>"),
        ("Digest secret", "<masked>"),
        ("", ""),
    ],
)
def test_credentials_are_masked(value, shown):
    assert mask_value("Authorization", value) == shown
    assert mask_value("X-Other", value) == value


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), min_size=1), st.sampled_from([6, 7, 8, 9]))
def test_no_level_prints_a_token(token, level):
    log = io.StringIO()
    secret = f"xx{token}xx"
    request = Request("GET", "/api", headers={"authorization": f"Bearer {secret}"})
    run_virtual(DebuggingTransport(Script(Response(200, obj={})), level, log.write).round_trip(request))
    assert secret not in log.getvalue()
    assert ("<masked>" in log.getvalue()) == (level >= 7)


def test_each_level_says_more():
    def said(level: int) -> str:
        log = io.StringIO()
        request = Request("GET", "/api", headers={"accept": "a"})
        run_virtual(DebuggingTransport(Script(Response(200, {"etag": "x"})), level, log.write).round_trip(request))
        return log.getvalue()

    assert said(6).count("\n") == 1
    assert 'verb="GET" url="/api" status="200 OK"' in said(6)
    assert "\tAccept: a\n" in said(7)
    assert "Etag" not in said(7)
    assert "\tEtag: x\n" in said(8)
    assert "curl -v -XGET  -H \"Accept: a\" '/api'" in said(9)


def test_a_line_of_log():
    line = klog_line("Request", {"n": 1, "one": 'a"b', "more": "x\ny\n"}, source="f.go:1", now=0)
    assert line.partition("] ")[2] == '"Request" n=1 one="a\\"b" more=<\n\tx\n\ty\n >\n'


def test_bodies():
    assert hex_dump(b"k8s\0" + bytes(range(64, 78))) == (
        "00000000  6b 38 73 00 40 41 42 43  44 45 46 47 48 49 4a 4b  |k8s.@ABCDEFGHIJK|\n"
        "00000010  4c 4d                                             |LM|\n"
    )
    assert truncate_body("x" * 2000, 8) == "x" * 1024 + " [truncated 976 chars]"
    assert truncate_body("x" * 2000, 10) == "x" * 2000


def test_global_flags_may_stand_anywhere():
    flags = global_flags(shlex.split("-n a get --as=bob pods --as-group g1 --as-group=g2 -v=8 -nb -- --token=x -n c"))
    assert (flags["namespace"], flags["as"], flags.lists["as-group"], flags.level, flags["token"]) == (
        "b", "bob", ["g1", "g2"], 8, "",
    )  # fmt: skip


@pytest.mark.parametrize(("text", "seconds"), [("", 0), ("0", 0), ("3", 3), ("3s", 3), ("1m30s", 90), ("500ms", 0.5)])
def test_time_outs(text, seconds):
    assert parse_timeout(text) == seconds


def test_what_is_no_time_out():
    with pytest.raises(CommandError) as refused:
        parse_timeout("soon")
    assert str(refused.value) == (
        "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding"
        " time unit (e.g. 1s | 2m | 3h)"
    )


def test_help_names_the_flags():
    for line in (
        "get --help",
        "label -h",
        "create deployment --help",
        "rollout undo --help",
        "rollout --help",
        "create -h",
    ):
        code, out, err, server = kubectl(line)
        assert (code, err, server.requests, server.discovered) == (0, "", [], [])
        assert "Usage:" in out
    assert "annotate" in kubectl("--help")[1]
