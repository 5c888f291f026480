"""`curl` and `wget` in hollow containers: a page of another pod, by its address or by
that of a Service.

Ours, after curl 8 and busybox' wget. Left out: TLS, everything that is sent along.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import urlsplit

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.commands.basic import not_modelled
from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.process import NoSuchHost, Process, Program

UNKNOWN_HOST, CONNECT_FAILED, HTTP_ERROR = 6, 7, 22
"""curl's exit codes."""

_CURL_QUIET = frozenset({"-g", "-q", "-s", "-S", "-sS", "-Ss", "--silent", "--globoff"})
_CURL_FAILS = frozenset({"-f", "-sf", "-fs", "-fsS", "-sSf", "--fail"})
_CURL_TIMES = frozenset({"--max-time", "--connect-timeout", "-m"})


def _request(process: Process, url: str) -> HTTPRequest:
    """Raises NotModelled for what nobody answers here."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    try:
        port = parts.port or 80
    except ValueError:
        raise not_modelled(process) from None
    if parts.scheme != "http" or not parts.hostname:
        raise not_modelled(process)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return HTTPRequest(parts.hostname or "", port, path)


async def _asked(process: Process, request: HTTPRequest) -> HTTPAnswer:
    try:
        return await process.machine.network.http(request)
    except KeyError:  # a node's address, or nobody's
        raise not_modelled(process) from None


async def curl(process: Process) -> int:
    """`curl -s URL`, with `-f` also failing for what the server refuses."""
    words, urls, fails = list(process.argv[1:]), list[str](), False
    while words:
        word = words.pop(0)
        if word in _CURL_TIMES and words:
            words.pop(0)
        elif word in _CURL_FAILS:
            fails = True
        elif word.startswith("-") and word not in _CURL_QUIET:
            raise not_modelled(process)
        elif not word.startswith("-"):
            urls.append(word)
    if len(urls) != 1:
        raise not_modelled(process)
    request = _request(process, urls[0])
    try:
        answer = await _asked(process, request)
    except NoSuchHost:
        process.complain(
            f"curl: ({UNKNOWN_HOST}) Could not resolve host: {request.host}"
        )
        return UNKNOWN_HOST
    if not answer.status:
        process.complain(
            f"curl: ({CONNECT_FAILED}) Failed to connect to {request.host} port"
            f" {request.port} after 0 ms: Couldn't connect to server"
        )
        return CONNECT_FAILED
    if fails and answer.status >= HTTPStatus.BAD_REQUEST:
        process.complain(
            f"curl: ({HTTP_ERROR}) The requested URL returned error: {answer.status}"
        )
        return HTTP_ERROR
    process.print(answer.text, "")
    return 0


async def wget(process: Process) -> int:
    """`wget -q -O FILE URL`; `-` is the standard output."""
    words, urls = list(process.argv[1:]), list[str]()
    target, quiet = "", False
    while words:
        word = words.pop(0)
        if word == "-q":
            quiet = True
        elif word in ("-O", "-qO") and words:
            quiet = quiet or word == "-qO"
            target = words.pop(0)
        elif word in ("-O-", "-qO-"):
            quiet = quiet or word == "-qO-"
            target = "-"
        elif word == "-T" and words:
            words.pop(0)
        elif word.startswith("-"):
            raise not_modelled(process)
        else:
            urls.append(word)
    if len(urls) != 1 or not target or not quiet:
        raise not_modelled(process)
    request = _request(process, urls[0])
    try:
        answer = await _asked(process, request)
    except NoSuchHost:
        process.complain(f"wget: bad address '{request.host}'")
        return 1
    if not answer.status:
        process.complain(
            f"wget: can't connect to remote host ({request.host}): Connection refused"
        )
        return 1
    if answer.status != HTTPStatus.OK:
        reason = HTTPStatus(answer.status).phrase
        process.complain(
            f"wget: server returned error: HTTP/1.1 {answer.status} {reason}"
        )
        return 1
    if target == "-":
        process.print(answer.text, "")
        return 0
    try:
        write = await process.files.open(absolute(process.cwd, target))
    except FileError as error:
        process.complain(f"wget: can't open '{target}': {error}")
        return 1
    write(answer.text.encode("utf-8", "surrogateescape"))
    return 0


WEB_COMMANDS: dict[str, Program] = {"curl": curl, "wget": wget}
