"""`agnhost` in hollow containers: what it prints is what the program of 1.36.2 prints for the same command line."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import pytest

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.agnhost import PARTS, RUN_ON
from lifecycle.cri.hollow.agnhost.mounttest import go_mode
from lifecycle.cri.hollow.runtime import HollowRuntime
from tests.cri.hollow.shell.test_shell import NOT_RUN, script
from tests.cri.hollow.test_programs import image_log
from tests.cri.hollow.test_runtime import config, on_runtime, sandbox, started

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"


def in_image(text: str) -> tuple[int, str, str]:
    return script(text, IMAGE)


@pytest.mark.parametrize(
    ("text", "code", "out", "err"),
    [
        ("/agnhost entrypoint-tester a 'b c' -x", 0, "[/agnhost entrypoint-tester a b c -x]\n", ""),
        ("agnhost mounttest --nope", 1, "", "Error: unknown flag: --nope\n"),
        ("agnhost mounttest --file_mode", 1, "", "Error: flag needs an argument: --file_mode\n"),
        ("agnhost mounttest --file_mode=/tmp extra", 1, "", "Error: accepts at most 0 arg(s), received 1\n"),
        (
            "agnhost mounttest --retry-time=x",
            1,
            "",
            'Error: invalid argument "x" for "--retry-time" flag: strconv.ParseInt: parsing "x": invalid syntax\n',
        ),
        (
            "agnhost mounttest --file_perm /tmp --file-mode=/tmp",
            0,
            'mode of file "/tmp": dtrwxrwxrwx\nperms of file "/tmp": -rwxrwxrwx\n',
            "",
        ),
        (
            "agnhost mounttest --new_file_0660=/tmp/a --file_mode=/tmp/a --file_owner=/tmp/a",
            0,
            'content of file "/tmp/a": mount-tester new file\n\nmode of file "/tmp/a": -rw-rw----\n'
            'owner UID of "/tmp/a": 0\nowner GID of "/tmp/a": 0\n',
            "",
        ),
        (
            "agnhost mounttest --file_content=/tmp --file_mode=/tmp/z --file_perm=/tmp/z --file_owner=/tmp/z"
            " --fs_type=/tmp/z --new_file_0666=/tmp/z/a",
            1,
            'error from statfs("/tmp/z"): no such file or directory\n'
            'error writing new file "/tmp/z/a": open /tmp/z/a: no such file or directory\n'
            'error from Stat("/tmp/z"): stat /tmp/z: no such file or directory\n'
            'error from Stat("/tmp/z"): stat /tmp/z: no such file or directory\n'
            'error from stat("/tmp/z"): no such file or directory\n'
            'error reading file content for "/tmp": read /tmp: is a directory\n',
            "",
        ),
        (
            "echo -n other > /tmp/o; agnhost mounttest --file_content_in_loop=/tmp/o --retry_time=3",
            0,
            'content of file "/tmp/o": other\nUnexpected content. Expected: mount-tester new file\n. Retrying\n' * 2,
            "",
        ),
        (
            "echo mount-tester new file > /tmp/o; agnhost mounttest --file_content_in_loop=/tmp/o",
            0,
            'content of file "/tmp/o": mount-tester new file\n\n',
            "",
        ),
        (
            "agnhost mounttest --file_content_in_loop=/tmp/o --retry_time=1 --break_on_expected_content=false",
            1,
            "Error reading file /tmp/o: open /tmp/o: no such file or directory, retrying\n",
            "",
        ),
        ("agnhost logs-generator", 1, "", "Invalid total number of lines: 0\n"),
        ("agnhost connect 10.0.0.1:80", 126, "", NOT_RUN.format("agnhost connect 10.0.0.1:80")),
        ("agnhost mounttest --fs_type=/usr", 126, "", NOT_RUN.format("agnhost /usr")),
    ],
)
def test_it_prints_what_the_real_one_prints(text: str, code: int, out: str, err: str) -> None:
    assert in_image(text) == (code, out, err)


def test_its_loop_takes_the_time_that_it_is_given() -> None:
    async def body(runtime: HollowRuntime) -> None:
        loop = asyncio.get_running_loop()
        container_id = await started(runtime, "sleep", "1000", image=IMAGE)
        begin = loop.time()
        command = ("/agnhost", "mounttest", "--file-content-in-loop=/tmp/o", "--retry-time=5")
        answer = await runtime.exec_sync(container_id, command, 0)
        assert (answer.exit_code, answer.stdout.count("retrying"), loop.time() - begin) == (1, 3, 6)

    on_runtime(body)


def test_the_image_pauses_by_itself_and_ends_with_2() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, image=IMAGE)
        lines = await image_log(runtime, container_id)
        await asyncio.sleep(1)
        await runtime.stop_container(container_id, 30)
        assert b"".join(lines) == b'Paused\nSignals registered\nexiting because of signal "terminated"\n'
        assert (await runtime.container_status(container_id)).exit_code == 2

    on_runtime(body)


@pytest.mark.parametrize("part", sorted(RUN_ON))
def test_a_server_that_nobody_plays_runs_and_says_nothing(part: str) -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/agnhost", part, "--some-flag", image=IMAGE)
        lines = await image_log(runtime, container_id)
        await asyncio.sleep(10)
        assert ((await runtime.container_status(container_id)).state, lines) == (ContainerState.RUNNING, [])

    on_runtime(body)
    assert part not in PARTS


def test_log_lines_are_klog_s_and_the_same_each_time() -> None:
    code, out, err = in_image("agnhost logs-generator -t 3 --run-duration 1500ms")
    assert (code, out) == (0, "")
    lines = err.splitlines()
    line = r"I\d{4} \d\d:\d\d:\d\d\.\d{6}       1 logs_generator\.go:76\] (\d) (GET|POST|PUT) /api/v1/namespaces/\S+/pods/\w+ \d{3}"
    found = [re.fullmatch(line, each) for each in lines]
    assert [each and each[1] for each in found] == ["0", "1", "2"]
    again = in_image("agnhost logs-generator -t 3 --run-duration 1500ms")[2].splitlines()
    assert [each.partition("]")[2] for each in again] == [each.partition("]")[2] for each in lines]


def serving(*command: str, port: int, asked: dict[str, HTTPAnswer], after: float = 0.5) -> None:
    async def body(runtime: HollowRuntime) -> None:
        await started(runtime, "/agnhost", *command, image=IMAGE)
        await asyncio.sleep(after)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        said = {path: await runtime.http_get(HTTPRequest(ip, port, path), 1) for path in asked}
        assert said == asked

    on_runtime(body)


def udp_failed(why: str) -> str:
    return json.dumps({"errors": [f"reading from udp connection failed. err:'read udp {why}'"]}, separators=(",", ":"))


def test_netexec_answers_as_the_real_one() -> None:
    serving(
        "netexec",
        "--http-port=8088",
        port=8088,
        asked={
            "/hostname": HTTPAnswer(200, "p"),
            "/hostName": HTTPAnswer(200, "p"),
            "/serverport": HTTPAnswer(200, "8088"),
            "/healthz": HTTPAnswer(200),
            "/readyz": HTTPAnswer(200, "ok"),
            "/echo?msg=hi&code=418": HTTPAnswer(418, "hi"),
            "/echo?msg=hi&code=x": HTTPAnswer(200, "hi"),
            "/redirect?location=/echo%3Fmsg=foo&code=307": HTTPAnswer(
                307, '<a href="/echo?msg=foo">Temporary Redirect</a>.\n\n', "/echo?msg=foo"
            ),
            "/shell?cmd=echo%20a": HTTPAnswer(200, '{"output":"a\\n"}'),
            "/shell?shellCommand=exit%203": HTTPAnswer(200, '{"error":"exit status 3"}'),
            "/shell?cmd=cat%20/tmp/n": HTTPAnswer(
                200,
                json.dumps(
                    {"error": "exit status 1", "output": "cat: can't open '/tmp/n': No such file or directory\n"},
                    separators=(",", ":"),
                ),
            ),
            "/dial?host=10.244.1.2&port=8088&request=hostname&tries=2": HTTPAnswer(200, '{"responses":["p","p"]}'),
            "/dial?host=10.244.1.2&port=1&request=hostname": HTTPAnswer(
                200,
                '{"errors":["Get \\"http://10.244.1.2:1/hostname\\": dial tcp 10.244.1.2:1: connect: connection refused"]}',
            ),
            "/dial?host=10.244.1.2&port=80": HTTPAnswer(400, "request parameter not specified. <nil>\n"),
            "/dial?host=10.0.0.1&port=80&request=hostname": HTTPAnswer(
                501, NOT_RUN.format("agnhost netexec: /dial to 10.0.0.1")
            ),
            "/dial?host=10.244.1.2&port=80&request=hostname&protocol=sctp": HTTPAnswer(
                501, NOT_RUN.format("agnhost netexec: /dial over sctp")
            ),
            "/dial?host=10.244.1.2&port=8081&request=hostname&protocol=udp&tries=2": HTTPAnswer(
                200, '{"responses":["p","p"]}'
            ),
            "/dial?host=10.244.1.2&port=8081&request=echo%20A%20b&protocol=udp": HTTPAnswer(
                200, '{"responses":["a b"]}'
            ),
            "/dial?host=10.244.1.2&port=8081&request=serverport&protocol=udp": HTTPAnswer(
                200, '{"responses":["8081"]}'
            ),
            "/dial?host=10.244.1.2&port=8088&request=hostname&protocol=udp": HTTPAnswer(
                200, udp_failed("10.244.1.2:8088: read: connection refused")
            ),
            "/dial?host=10.244.1.2&port=8081&request=foo&protocol=udp": HTTPAnswer(
                200, udp_failed("10.244.1.2:8081: i/o timeout")
            ),
            "/clientip": HTTPAnswer(501, NOT_RUN.format("agnhost netexec: /clientip")),
        },
    )


def test_netexec_is_not_ready_while_it_ends() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/agnhost", "netexec", "--delay-shutdown=5", image=IMAGE)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        stopping = asyncio.ensure_future(runtime.stop_container(container_id, 30))
        await asyncio.sleep(1)
        said = [(await runtime.http_get(HTTPRequest(ip, 8080, path), 1)).status for path in ("/readyz", "/healthz")]
        await stopping
        assert said == [503, 200]
        assert (await runtime.container_status(container_id)).exit_code == 0

    on_runtime(body)


def test_netexec_ends_as_it_is_told() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/agnhost", "netexec", image=IMAGE)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        answer = await runtime.http_get(HTTPRequest(ip, 8080, "/exit?code=3&wait=100ms"), 1)
        assert answer.status == 0
        assert (await runtime.container_status(container_id)).exit_code == 3

    on_runtime(body)


def test_liveness_is_well_for_ten_seconds() -> None:
    well = {"/healthz": HTTPAnswer(200, "ok"), "/": HTTPAnswer(404, "404 page not found\n")}
    serving("liveness", port=8080, asked=well, after=9.9)
    serving("liveness", port=8080, asked={"/healthz": HTTPAnswer(500, "error: 11.500000000")}, after=11.5)


def test_serve_hostname_answers_a_minute_longer() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/agnhost", "serve-hostname", image=IMAGE)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        stopping = asyncio.ensure_future(runtime.stop_container(container_id, 30))
        await asyncio.sleep(20)
        assert await runtime.http_get(HTTPRequest(ip, 9376, "/any"), 1) == HTTPAnswer(200, "p")
        await stopping
        assert (await runtime.container_status(container_id)).exit_code == 137

    on_runtime(body)


def test_the_web_server_serves_files() -> None:
    async def body(runtime: HollowRuntime) -> None:
        container_id = await started(runtime, "/agnhost", "test-webserver", image=IMAGE)
        await runtime.exec_sync(container_id, ("sh", "-c", "echo hello > /tmp/a"), 0)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        assert (await runtime.http_get(HTTPRequest(ip, 80, "/localhost.crt"), 1)).text.startswith("-----BEGIN CERT")
        paths = ("/tmp/a", "/tmp/b", "/tmp")
        said = [await runtime.http_get(HTTPRequest(ip, 80, path), 1) for path in paths]
        assert said == [
            HTTPAnswer(200, "hello\n"),
            HTTPAnswer(404, "404 page not found\n"),
            HTTPAnswer(301, "", "tmp/"),
        ]
        listed = (await runtime.http_get(HTTPRequest(ip, 80, "/tmp/"), 1)).text
        head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n'
        assert listed == f'{head}<pre>\n<a href="a">a</a>\n</pre>\n'
        root = (await runtime.http_get(HTTPRequest(ip, 80, "/"), 1)).text
        assert '<a href="tmp/">tmp/</a>\n' in root
        assert '<a href="localhost.crt">localhost.crt</a>\n' in root
        assert (await runtime.http_get(HTTPRequest(ip, 80, "/usr/"), 1)).status == 501

    on_runtime(body)


@pytest.mark.parametrize(
    ("mode", "directory", "text"),
    [
        (0o644, False, "-rw-r--r--"),
        (0o4750, False, "urwxr-x---"),
        (0o2775, True, "dgrwxrwxr-x"),
        (0o1777, True, "dtrwxrwxrwx"),
    ],
)
def test_modes_are_go_s(mode: int, directory: bool, text: str) -> None:
    assert go_mode(mode, directory=directory) == text


def test_a_file_of_the_image_can_be_moved_away_and_back() -> None:
    text = "mv -v /localhost.crt /tmp/ || true; ls /localhost.crt; mv -v /tmp/localhost.crt /; ls /localhost.crt"
    assert in_image(text) == (
        0,
        "'/localhost.crt' -> '/tmp/localhost.crt'\n'/tmp/localhost.crt' -> '/localhost.crt'\n/localhost.crt\n",
        "ls: /localhost.crt: No such file or directory\n",
    )


def test_porter_serves_what_its_environment_says() -> None:
    async def body(runtime: HollowRuntime) -> None:
        pod = await runtime.run_pod_sandbox(sandbox("u"))
        envs = (("SERVE_PORT_80", "foo"), ("SERVE_TCP_PORT_81", "bar"), ("SERVE_UDP_PORT_53", "no"), ("PORT_82", "no"))
        plain = replace(config("/agnhost", "porter", image=IMAGE), envs=envs)
        container_id = await runtime.create_container(pod, plain)
        lines = await image_log(runtime, container_id)
        await runtime.start_container(container_id)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        said = [await runtime.http_get(HTTPRequest(ip, port, "/any", method="POST"), 1) for port in (80, 81)]
        assert said == [HTTPAnswer(200, "foo"), HTTPAnswer(200, "bar")]
        assert ["refused" in await runtime.tcp_connect(ip, port, 1) for port in (80, 82, 53)] == [False, True, True]
        assert b"".join(lines).decode() == NOT_RUN.format("agnhost porter: SERVE_UDP_PORT_53")

    on_runtime(body)


def test_porter_says_with_which_method_it_was_asked() -> None:
    async def body(runtime: HollowRuntime) -> None:
        pod = await runtime.run_pod_sandbox(sandbox("u"))
        one = replace(config("/agnhost", "porter", "--json-response", image=IMAGE), envs=(("SERVE_PORT_80", "foo"),))
        await runtime.start_container(await runtime.create_container(pod, one))
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        answer = await runtime.http_get(HTTPRequest(ip, 80, "/x", method="DELETE"), 1)
        assert answer == HTTPAnswer(200, '{"Method":"DELETE","Body":"foo"}', content_type="application/json")

    on_runtime(body)


@pytest.mark.parametrize(
    ("image", "answer"),
    [
        ("registry.k8s.io/e2e-test-images/kitten:1.8", HTTPAnswer(200, '{"image": "kitten.jpg"}', "", "application/json")),
        ("registry.k8s.io/e2e-test-images/nautilus:1.8", HTTPAnswer(200, '{"image": "nautilus.jpg"}', "", "application/json")),
        ("example.com/kitten:1.8", None),
    ],
)  # fmt: skip
def test_a_demo_says_which_one_it_is_and_whoever_has_its_name_is_none(image: str, answer: HTTPAnswer | None) -> None:
    async def body(runtime: HollowRuntime) -> None:
        await runtime.pull_image(image)
        await started(runtime, image=image)
        await asyncio.sleep(1)
        ip = (await runtime.list_pod_sandbox("u"))[0].ip
        if answer is None:
            assert "refused" in await runtime.tcp_connect(ip, 80, 1)
        else:
            assert await runtime.http_get(HTTPRequest(ip, 80, "/data.json"), 1) == answer

    on_runtime(body)
