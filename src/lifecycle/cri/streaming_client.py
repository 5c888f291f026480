"""Exec, attach and port forward as a client: the runtime names an address, and a
WebSocket there carries the streams.

Every message starts with a byte that says which stream it belongs to: 0 stdin, 1
stdout, 2 stderr, 3 error, 4 resize. The error stream brings one `Status` at the end,
whose `ExitCode` cause is the command's exit code. Version 5 of the protocol can also
close a stream (byte 255, then the stream's number); in version 4 the end of the input
could not be said, so nothing older is spoken here: `spdy_executor` is for runtimes that
do not know it.

A port forward has two streams per port, data and errors, each opened by the port's
number in two bytes.

Upstream: `apimachinery/pkg/util/remotecommand/constants.go`,
`kubelet/pkg/cri/streaming/remotecommand/websocket.go`,
`kubelet/pkg/cri/streaming/portforward/websocket.go`, v1.36.
"""

from __future__ import annotations

import asyncio
import json

import aiohttp

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.exit_code import exit_code
from lifecycle.cri.node_access import connector_in

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
COMMAND_PROTOCOL, PORT_PROTOCOL = "v5.channel.k8s.io", "v4.channel.k8s.io"
PROTOCOLS = (COMMAND_PROTOCOL, PORT_PROTOCOL)


class ProtocolNotSpoken(Exception):
    """The other side knows WebSockets, but not version 5 of what is said over them."""


async def run_streams(url: str, streams: Streams, host_netns: str = "") -> int:
    """Talk until the other side ends; the command's exit code. Raises
    RuntimeServiceError if the stream fails, and ProtocolNotSpoken; the address is used
    up then.

    `host_netns`: the network namespace whose loopback the address is on, if that is not
    ours.
    """
    async with aiohttp.ClientSession(connector=connector_in(host_netns)) as session:
        try:
            socket = await session.ws_connect(
                url, protocols=[COMMAND_PROTOCOL], max_msg_size=0
            )
        except aiohttp.WSServerHandshakeError as error:
            raise ProtocolNotSpoken(error.message) from None
        senders = [
            asyncio.ensure_future(_send_input(socket, streams)),
            asyncio.ensure_future(_send_sizes(socket, streams)),
        ]
        try:
            if socket.protocol != COMMAND_PROTOCOL:
                raise ProtocolNotSpoken(str(socket.protocol))
            return await _receive(socket, streams)
        finally:
            for sender in senders:
                sender.cancel()
            await asyncio.gather(*senders, return_exceptions=True)
            await socket.close()


async def _send_input(
    socket: aiohttp.ClientWebSocketResponse, streams: Streams
) -> None:
    if streams.stdin is None:
        return
    async for data in streams.stdin:
        await socket.send_bytes(bytes([STDIN]) + data)
    if socket.protocol == COMMAND_PROTOCOL:
        await socket.send_bytes(bytes([CLOSE, STDIN]))


async def _send_sizes(
    socket: aiohttp.ClientWebSocketResponse, streams: Streams
) -> None:
    if streams.resize is None:
        return
    async for width, height in streams.resize:
        await socket.send_bytes(
            bytes([RESIZE]) + json.dumps({"Width": width, "Height": height}).encode()
        )


async def _receive(socket: aiohttp.ClientWebSocketResponse, streams: Streams) -> int:
    code = 0
    async for message in socket:
        if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
            continue
        channel, data = message.data[0], message.data[1:]
        if channel == STDOUT and data:
            await streams.stdout(data)
        elif channel == STDERR and data:
            await streams.stderr(data)
        elif channel == ERROR and data:
            code = exit_code(data)
    return code


async def forward_port(
    url: str, port: int, streams: Streams, host_netns: str = ""
) -> None:
    """One connection: until either side is done. Raises RuntimeServiceError if nobody
    listens there.
    """
    async with (
        aiohttp.ClientSession(connector=connector_in(host_netns)) as session,
        session.ws_connect(url, protocols=[PORT_PROTOCOL], max_msg_size=0) as socket,
    ):
        sender = asyncio.ensure_future(_send_input(socket, streams))
        opened: set[int] = set()
        try:
            async for message in socket:
                if message.type is not aiohttp.WSMsgType.BINARY or not message.data:
                    continue
                channel, data = message.data[0], message.data[1:]
                if channel not in opened:
                    opened.add(channel)  # the first message on each names the port
                    data = data[2:]
                if channel == 1 and data:
                    raise RuntimeServiceError(
                        "rpc error: code = Unknown desc ="
                        f" {data.decode(errors='replace')}"
                    )
                if data:
                    await streams.stdout(data)
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
