"""`agnhost netexec`: a web server that says who it is, echoes, fails as it is told to,
and runs commands.

Upstream: `test/images/agnhost/netexec/netexec.go`, v1.36. Left out: SCTP, uploads,
and who asks (`/clientip`, `/header`; over UDP, too).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable

from lifecycle.api.go.duration import parse_duration
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.flags import Default, Flags
from lifecycle.cri.hollow.agnhost.log import log
from lifecycle.cri.hollow.agnhost.servers import redirect, split_target
from lifecycle.cri.hollow.agnhost.tls_files import CERTIFICATE, TLS_FLAGS, tls_of_flags
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.process import Process, play

FLAGS: dict[str, Default] = {
    **TLS_FLAGS,
    "http-port": 8080,
    "udp-port": 8081,
    "sctp-port": -1,
    "http-override": "",
    "udp-listen-addresses": "",
    "delay-shutdown": 0,
}
Query = dict[str, str]
UDP_PATIENCE = 5.0
"""Seconds that `/dial` waits for an answer over UDP."""


class Netexec:
    """One server's answers."""

    def __init__(
        self, process: Process, port: int, udp_port: int, override: str
    ) -> None:
        self._process = process
        self._port, self._udp_port = port, udp_port
        self._override = override
        self._started = process.machine.now()
        self.ending = False
        self._pages: dict[str, Callable[[Query], Awaitable[HTTPAnswer]]] = {
            "/dial": self._dial,
            "/echo": self._echo,
            "/exit": self._exit,
            "/healthz": self._healthz,
            "/hostname": self._hostname,
            "/hostName": self._hostname,
            "/readyz": self._readyz,
            "/redirect": self._redirect,
            "/serverport": self._serverport,
            "/shell": self._shell,
            "/shutdown": self._shutdown,
        }

    async def answer(self, request: HTTPRequest) -> HTTPAnswer:
        """What is not one of its pages gets the time. Raises NotModelled."""
        if self._override:
            _, query = split_target(request)
            path, given = split_target(HTTPRequest("", 0, self._override))
            return await self._page(path, {**query, **given})
        return await self._page(*split_target(request))

    async def _page(self, path: str, query: Query) -> HTTPAnswer:
        if path in ("/clientip", "/header", "/upload"):
            raise NotModelled(f"agnhost netexec: {path}")
        page = self._pages.get(path)
        if page is not None:
            return await page(query)
        log(self._process, "GET /")
        now = self._process.machine.now()
        shown = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now))
        since = now - self._started
        text = f"NOW: {shown}.{int(now % 1 * 1e9):09} +0000 UTC m=+{since:.9f}"
        return HTTPAnswer(200, text)

    async def _hostname(self, query: Query) -> HTTPAnswer:
        log(self._process, "GET /hostname")
        return HTTPAnswer(200, self._process.machine.hostname)

    async def _serverport(self, query: Query) -> HTTPAnswer:
        log(self._process, "GET /serverport")
        return HTTPAnswer(200, str(self._port))

    async def _healthz(self, query: Query) -> HTTPAnswer:
        log(self._process, "GET /healthz")
        return HTTPAnswer(200)

    async def _readyz(self, query: Query) -> HTTPAnswer:
        log(self._process, "GET /readyz")
        if self.ending:
            return HTTPAnswer(503, "shutting down\n")
        return HTTPAnswer(200, "ok")

    async def _echo(self, query: Query) -> HTTPAnswer:
        message, code = query.get("msg", ""), query.get("code", "")
        log(self._process, f"GET /echo?msg={message}&code={code}")
        known = re.fullmatch(r"[1-5]\d\d", code)
        return HTTPAnswer(int(code) if known else 200, message)

    async def _dial(self, query: Query) -> HTTPAnswer:
        """Ask another pod, as often as it is told, and say what came of it."""
        words = {key: query.get(key, "") for key in ("host", "protocol", "port")}
        words |= {key: query.get(key, "") for key in ("request", "tries")}
        shown = "&".join(f"{key}={value}" for key, value in words.items())
        log(self._process, f"GET /dial?{shown}")
        if not words["request"]:
            return HTTPAnswer(400, "request parameter not specified. <nil>\n")
        if words["protocol"] not in ("", "http", "udp"):
            raise NotModelled(f"agnhost netexec: /dial over {words['protocol']}")
        dial = self._dial_udp if words["protocol"] == "udp" else self._dial_http
        if not words["port"].isdigit() or not (words["tries"] or "1").isdigit():
            raise NotModelled(f"agnhost netexec: /dial?{shown}"[:100])
        said: dict[str, list[str]] = {"responses": [], "errors": []}
        for _ in range(int(words["tries"] or 1)):
            try:
                text, why = await dial(
                    words["host"], int(words["port"]), words["request"]
                )
            except KeyError:
                where = f"/dial to {words['host']}"
                raise NotModelled(f"agnhost netexec: {where}") from None
            if why:
                said["errors"].append(why)
            else:
                said["responses"].append(text.strip())
        kept = {key: texts for key, texts in said.items() if texts}
        return HTTPAnswer(200, json.dumps(kept, separators=(",", ":")))

    async def _dial_http(self, host: str, port: int, page: str) -> tuple[str, str]:
        """What came back, or why nothing did."""
        asked = HTTPRequest(host, port, f"/{page}")
        answer = await self._process.machine.network.http(asked)
        return (answer.text, "") if answer.status else ("", answer.text)

    async def _dial_udp(self, host: str, port: int, command: str) -> tuple[str, str]:
        """The same."""
        data, why = command.encode(), "i/o timeout"
        try:
            found = await self._process.machine.network.datagram(host, port, data)
        except OSError as error:
            found, why = b"", f"read: {(error.strerror or '').lower()}"
        if found:
            return found.decode(errors="replace"), ""
        if why == "i/o timeout":
            await self._process.sleep(UDP_PATIENCE)
        failed = f"read udp {host}:{port}: {why}"
        return "", f"reading from udp connection failed. err:'{failed}'"

    async def datagram(self, data: bytes) -> bytes:
        """A command; what is none gets no answer. Raises NotModelled."""
        command = data.decode(errors="replace").strip().lower()
        name, _, words = command.partition(" ")
        if command == "hostname":
            log(self._process, "Sending udp hostName response")
            return self._process.machine.hostname.encode()
        if name == "echo" and words:
            log(self._process, f"Echoing {words} to UDP client")
            return words.encode()
        if command == "serverport":
            log(self._process, f"Sending server port to UDP client {self._udp_port}")
            return str(self._udp_port).encode()
        if command == "clientip":
            raise NotModelled("agnhost netexec: clientip over UDP")
        if command:
            log(self._process, f"Unknown UDP command received: {command}")
        return b""

    async def _redirect(self, query: Query) -> HTTPAnswer:
        location, code = query.get("location", ""), query.get("code", "")
        log(self._process, f"GET /redirect?msg={location}&code={code}")
        known = re.fullmatch(r"3\d\d", code)
        return redirect(location, int(code) if known else 302)

    async def _shell(self, query: Query) -> HTTPAnswer:
        """A command and what it printed; its failure is no failure of the request."""
        text = query.get("shellCommand") or query.get("cmd", "")
        log(self._process, f"GET /shell?cmd={text}")
        printed = bytearray()
        child = self._process.child(
            ("/bin/sh", "-c", text), stdout=printed.extend, stderr=printed.extend
        )
        code = await play(child)
        said = {}
        if code:
            said["error"] = f"exit status {code}"
        if printed:
            said["output"] = printed.decode("utf-8", "replace")
        return HTTPAnswer(200, json.dumps(said, separators=(",", ":")))

    async def _exit(self, query: Query) -> HTTPAnswer:
        """Its process ends, after a while."""
        code = query.get("code", "")
        wait = parse_duration(query.get("wait") or "0")
        await self._process.sleep(wait)
        self._process.exit(int(code) if code.isdigit() and int(code) < 128 else 0)
        return HTTPAnswer(0, "EOF")

    async def _shutdown(self, query: Query) -> HTTPAnswer:
        log(self._process, "GET /shutdown")
        self._process.exit(0)
        return HTTPAnswer(0, "EOF")


async def netexec(process: Process, flags: Flags) -> int:
    """Serves until it is told to end; with `--delay-shutdown` a while longer."""
    port, delay = flags.number("http-port"), flags.number("delay-shutdown")
    udp_port = flags.number("udp-port")
    tls = await tls_of_flags(process, flags) if flags.text(CERTIFICATE) else None
    server = Netexec(process, port, udp_port, flags.text("http-override"))
    process.serve(port, server.answer, tls)
    log(process, f"Started HTTP server on port {port}")
    if udp_port > 0:
        process.serve_datagrams(udp_port, server.datagram)
        log(process, f"Started UDP server on port  {udp_port}")
    await process.terminated()
    server.ending = True
    await process.sleep(delay)
    return 0
