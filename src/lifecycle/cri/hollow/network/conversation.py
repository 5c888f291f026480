"""What a hollow server says to whoever reaches it: to one request, to all that comes
over a connection, to a datagram.

Nobody stands at the other end of a connection here, so requests are cut out of what is
sent, and each answer is ready at once. Thousands may come in one piece: between two of
them others have their turn. What is no request gets the answer that a real server gives
it, and nothing after it is looked at.

Ours. Upstream: `cri-api/pkg/apis/runtime/v1` (`PortForward`); the error is containerd's
(`internal/cri/server/sandbox_portforward_linux.go`, v2.x).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus

from lifecycle.api.loop.pauses import Pauses
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.network.http_headers import body_of, headers_of
from lifecycle.cri.hollow.process.not_modelled import NotModelled, not_modelled_message
from lifecycle.cri.hollow.process.pipes import MOST_INPUT

_REASONS = {status.value: status.phrase for status in HTTPStatus}

MAX_HEADER_BYTES = 1 << 20
"""Of a request. Upstream: Go's `net/http` (`DefaultMaxHeaderBytes`)."""

END_OF_HEAD = b"\r\n\r\n"

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n431 Request Header Fields Too Large"
)
"""What Go's server says to a head without an end."""

BAD_REQUEST = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n400 Bad Request"
)
"""What Go's server says to what is no request."""

NOT_HTTP = "Client sent an HTTP request to an HTTPS server.\n"
"""What Go's server says to one that speaks plainly."""


async def http_answer(
    server: HollowContainer | None, request: HTTPRequest
) -> HTTPAnswer:
    """What `server` says to a request, or why nobody does. Whoever asks over HTTPS has
    looked at its certificate, or does not care.
    """
    if server is None:
        where = f"dial tcp {request.host}:{request.port}"
        return HTTPAnswer(
            0, f'Get "{request.url}": {where}: connect: connection refused'
        )
    listening = server.server(request.port)
    if listening is None:
        return HTTPAnswer(0, f'Get "{request.url}": EOF')
    if listening.greeting:
        said = listening.greeting.decode("utf-8", "replace")
        why = f"net/http: HTTP/1.x transport connection broken: malformed {said!r}"
        return HTTPAnswer(0, f'Get "{request.url}": {why}')
    if listening.tls is None and request.scheme == "https":
        return HTTPAnswer(0, f'Get "{request.url}": {NO_TLS}')
    if listening.tls is not None and request.scheme == "http":
        return HTTPAnswer(400, NOT_HTTP)
    try:
        return await listening.answer(request)
    except NotModelled as error:
        return HTTPAnswer(501, not_modelled_message(str(error)))
    except Exception as error:  # what somebody supplied fails as any server would
        return HTTPAnswer(500, f"{type(error).__name__}: {error}")


class Conversation:
    """What a server says to what comes over one connection."""

    def __init__(self, server: HollowContainer, port: int) -> None:
        self._server, self._port = server, port
        self._unread = bytearray()
        self._searched = 0
        self._pauses = Pauses()
        self.is_over = False
        """Whether something came that is no request: nothing is read after it."""

    @property
    def unread(self) -> bytes:
        """What has come of a head without an end yet."""
        return bytes(self._unread)

    async def answers(self, data: bytes) -> AsyncIterator[bytes]:
        """To the requests that end in `data`, which comes next."""
        self._unread += data
        begin, search = 0, self._searched
        while (end := self._unread.find(END_OF_HEAD, search)) >= 0:
            answer = await self._answer(bytes(self._unread[begin:end]))
            if answer is None:
                self.is_over = True
                yield BAD_REQUEST
                return
            yield answer
            begin = search = end + len(END_OF_HEAD)
            await self._pauses.pause()
        del self._unread[:begin]
        self._searched = max(0, len(self._unread) - len(END_OF_HEAD) + 1)

    async def _answer(self, head: bytes) -> bytes | None:
        """None to what is no request."""
        words = head.partition(b"\r\n")[0].decode(errors="replace").split(" ", 2)
        if len(words) != 3 or not words[2].startswith("HTTP/"):
            return None
        method, page, _ = words
        asked = HTTPRequest("localhost", self._port, page, method=method)
        return _message(await http_answer(self._server, asked))


async def port_forward(
    server: HollowContainer | None, port: int, streams: Streams
) -> None:
    """Answer HTTP requests as `server` would. Raises RuntimeServiceError without
    one.
    """
    if server is None:
        raise RuntimeServiceError(
            "rpc error: code = Unknown desc = failed to execute portforward in network"
            f" namespace: failed to connect to localhost:{port} inside namespace:"
            " connection refused"
        )
    if streams.stdin is None:
        return
    talking = Conversation(server, port)
    async for data in streams.stdin:
        async for answer in talking.answers(data):
            await streams.stdout(answer)
        if talking.is_over:
            return
        if len(talking.unread) > MAX_HEADER_BYTES:
            await streams.stdout(TOO_LARGE)
            return


async def talk(server: HollowContainer, port: int, data: bytes) -> bytes:
    """What a server says to all that it is sent. What is no HTTP is a bad request.
    Raises NotModelled for more than `MOST_INPUT` bytes of answers.
    """
    listening = server.server(port)
    if listening is not None and listening.greeting:
        return listening.greeting
    talking, said = Conversation(server, port), bytearray()
    async for answer in talking.answers(data):
        said += answer
        if len(said) > MOST_INPUT:
            raise NotModelled(f"more than {MOST_INPUT} bytes of answers")
    if not talking.is_over and talking.unread.strip():
        said += BAD_REQUEST
    return bytes(said)


async def datagram_answer(server: HollowContainer, port: int, data: bytes) -> bytes:
    """What a server says to a datagram; nothing also if it breaks down over it. What
    nobody plays is said in the server's log.
    """
    answer = server.datagram_server(port)
    try:
        return b"" if answer is None else await answer(data)
    except NotModelled as error:
        server.say("stderr", not_modelled_message(str(error)).encode())
    except Exception as error:  # what somebody supplied fails as any server would
        server.say("stderr", f"{type(error).__name__}: {error}\n".encode())
    return b""


def _message(answer: HTTPAnswer) -> bytes:
    """As it goes over the wire; nothing, if the server broke off."""
    if not answer.status:
        return b""
    body = body_of(answer)
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, '')}"]
    lines += [f"{name}: {value}" for name, value in headers_of(answer).items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body
