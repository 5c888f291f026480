"""SPDY/3.1 as far as `kubectl exec` speaks it: frames as bytes, and streams over a connection."""

from __future__ import annotations

import asyncio
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.httpstream.spdy import CHUNK, MAX_STREAMS, SpdyConnection, SpdyStream
from lifecycle.api.httpstream.spdy_frames import (
    DICTIONARY,
    FLAG_FIN,
    GOAWAY,
    HEADERS,
    PING,
    RST_STREAM,
    SYN_REPLY,
    SYN_STREAM,
    Frame,
    FrameDecoder,
    FrameEncoder,
    FrameError,
)
from lifecycle.api.httpstream.unread import UNREAD
from lifecycle.api.loop.clock import run_virtual


def test_the_dictionary_is_the_drafts() -> None:
    assert len(DICTIONARY) == 1423
    assert DICTIONARY.startswith(b"\0\0\0\x07options\0\0\0\x04head\0\0\0\x04post")
    assert DICTIONARY.endswith(b",enq=0.")
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2, "what the draft's own compressors announce"


def test_frames_have_the_bytes_of_the_draft() -> None:
    encoder = FrameEncoder()
    assert encoder.data(3, b"hello") == b"\0\0\0\x03\0\0\0\x05hello"
    assert encoder.data(3, b"", fin=True) == b"\0\0\0\x03\x01\0\0\0"
    assert encoder.rst_stream(5) == b"\x80\x03\0\x03\0\0\0\x08\0\0\0\x05\0\0\0\x05"
    assert encoder.rst_stream(5, 1).endswith(b"\0\0\0\x01")
    assert encoder.ping(7) == b"\x80\x03\0\x06\0\0\0\x04\0\0\0\x07"
    assert encoder.goaway(9) == b"\x80\x03\0\x07\0\0\0\x08\0\0\0\x09\0\0\0\0"
    reply = encoder.syn_reply(1)
    assert reply[:5] == b"\x80\x03\0\x02\0"
    assert int.from_bytes(reply[5:8], "big") == len(reply) - 8
    assert reply[8:12] == b"\0\0\0\x01"


names = st.text("abcXYZ-", min_size=1, max_size=8)
headers = st.dictionaries(names, st.text("abcß 1", max_size=8), max_size=4)


@given(st.lists(headers, max_size=4), st.binary(max_size=50), st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_what_is_encoded_is_decoded_however_it_is_cut(
    streams: list[dict[str, str]], data: bytes, cuts: list[int]
) -> None:
    encoder, decoder = FrameEncoder(), FrameDecoder()
    sent, frames = b"", []
    for number, each in enumerate(streams):
        sent += encoder.syn_stream(2 * number + 1, each)
        pairs = tuple((name.lower(), value) for name, value in each.items())
        frames.append(Frame(SYN_STREAM, 2 * number + 1, 0, pairs))
    sent += encoder.syn_reply(1) + encoder.data(1, data) + encoder.data(1, b"", fin=True) + encoder.ping(4)
    sent += encoder.rst_stream(1) + encoder.goaway(1)
    frames += [
        Frame(SYN_REPLY, 1), Frame(0, 1, data=data), Frame(0, 1, FLAG_FIN), Frame(PING, number=4),
        Frame(RST_STREAM, 1, number=5), Frame(GOAWAY, number=1),
    ]  # fmt: skip
    received: list[Frame] = []
    while sent:
        cut = cuts[len(received) % len(cuts)]
        received += decoder.feed(sent[:cut])
        sent = sent[cut:]
    assert received == frames
    assert [frame.fin for frame in received] == [frame.flags == FLAG_FIN for frame in frames]


def test_a_header_with_several_values_is_several_and_settings_are_passed_over() -> None:
    encoder, decoder = FrameEncoder(), FrameDecoder()
    [frame] = decoder.feed(encoder.syn_stream(1, {"a": "x\0y"}))
    assert frame.headers == (("a", "x"), ("a", "y"))
    settings = b"\x80\x03\0\x04\0\0\0\x04\0\0\0\0"
    assert [each.kind for each in decoder.feed(settings + encoder.ping(1))] == [PING]
    more = bytearray(encoder.syn_reply(3))
    more[3] = HEADERS
    assert list(decoder.feed(bytes(more))) == [Frame(HEADERS, 3)]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80\x02\0\x06\0\0\0\x04\0\0\0\x07", "SPDY version 2"),
        (b"\x80\x03\0\x02\0\0\0\x08\0\0\0\x01none", "headers: "),
    ],
)
def test_what_is_no_spdy_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(FrameError) as caught:
        list(FrameDecoder().feed(data))
    assert str(caught.value).startswith(why)


def test_a_frame_of_the_largest_size_waits_for_all_its_bytes() -> None:
    assert list(FrameDecoder().feed(b"\0\0\0\x01\0" + b"\xff" * 3)) == []


class End:
    """One end of a line in memory."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self.other: End

    async def read(self) -> bytes:
        return await self.arrived.get()

    async def write(self, data: bytes) -> None:
        self.other.arrived.put_nowait(data)

    def close(self) -> None:
        self.other.arrived.put_nowait(b"")


def pair() -> tuple[End, End]:
    one, two = End(), End()
    one.other, two.other = two, one
    return one, two


async def all_of(stream: SpdyStream) -> bytes:
    return b"".join([data async for data in stream])


def test_streams_carry_bytes_both_ways_until_each_side_closes_its_half() -> None:
    async def main() -> None:
        near, far = pair()
        client, server = SpdyConnection(near), SpdyConnection(far)
        running = [asyncio.ensure_future(each.run()) for each in (client, server)]
        first = await client.open({"streamType": "stdout"})
        second = await client.open({"streamType": "stderr"})
        assert (first.number, second.number) == (1, 3)
        opened = aiter(server.streams())
        one, two = await anext(opened), await anext(opened)
        assert [each.headers for each in (one, two)] == [{"streamtype": "stdout"}, {"streamtype": "stderr"}]
        large = bytes(range(256)) * (2 * CHUNK // 256) + b"rest"
        await one.write(large)
        await two.write(b"error")
        await one.close()
        await one.close()
        await two.close()
        assert await all_of(first) == large
        assert await all_of(second) == b"error"
        await first.write(b"still open")
        await first.close()
        assert await all_of(one) == b"still open", "the other half goes on"
        near.close()
        far.close()
        await asyncio.gather(*running)
        assert [each async for each in opened] == []

    run_virtual(main())


def test_a_stream_ends_with_its_connection_and_with_a_reset() -> None:
    async def main() -> None:
        near, far = pair()
        client, server = SpdyConnection(near), SpdyConnection(far)
        running = [asyncio.ensure_future(each.run()) for each in (client, server)]
        given_up, cut = await client.open({}), await client.open({})
        opened = aiter(server.streams())
        theirs, other = await anext(opened), await anext(opened)
        await given_up.reset()
        async with asyncio.timeout(5):
            assert await all_of(theirs) == b""
        near.close()
        far.close()
        await asyncio.gather(*running)
        async with asyncio.timeout(5):
            assert await all_of(other) == await all_of(cut) == b""

    run_virtual(main())


def test_a_ping_is_answered_with_itself_and_what_is_no_spdy_ends_the_connection() -> None:
    async def main() -> None:
        near, far = pair()
        running = asyncio.ensure_future(SpdyConnection(far).run())
        await near.write(FrameEncoder().ping(11))
        async with asyncio.timeout(5):
            assert await near.read() == FrameEncoder().ping(11)
            await near.write(bytes(8))
            await near.write(b"\x80\x01\0\0\0\0\0\0")
            near.close()
            await running

    run_virtual(main())


def headers_frame(raw: bytes) -> bytes:
    """A stream is opened, with these bytes as its headers, compressed."""
    compressor = zlib.compressobj(zdict=DICTIONARY)
    block = compressor.compress(raw) + compressor.flush(zlib.Z_SYNC_FLUSH)
    payload = (1).to_bytes(4, "big") + bytes(6) + block
    return b"\x80\x03\0\x01\0" + len(payload).to_bytes(3, "big") + payload


def test_headers_that_grow_without_measure_are_not_decompressed() -> None:
    with pytest.raises(FrameError, match=r"headers: more than 65536 bytes$"):
        list(FrameDecoder().feed(headers_frame(bytes(4 << 20))))


@pytest.mark.parametrize("raw", [b"\xff\xff\xff\xff", b"\0\0\0\x02" + bytes(8)])
def test_more_headers_than_there_are_bytes_for_are_not_looked_for(raw: bytes) -> None:
    with pytest.raises(FrameError, match=r"of them$"):
        list(FrameDecoder().feed(headers_frame(raw)))


class Flood:
    """The other side sends, without end; counts what was read of it."""

    def __init__(self, first: bytes, again: bytes) -> None:
        self._first, self._again, self.read_bytes = first, again, 0
        self.written = 0

    async def read(self) -> bytes:
        data, self._first = self._first or self._again, b""
        self.read_bytes += len(data)
        return data

    async def write(self, data: bytes) -> None:
        self.written += 1

    def close(self) -> None: ...


def test_what_nobody_reads_is_not_taken_in() -> None:
    async def main() -> None:
        encoder = FrameEncoder()
        flood = Flood(encoder.syn_stream(1, {}), encoder.data(1, bytes(CHUNK)))
        connection = SpdyConnection(flood)
        running = asyncio.ensure_future(connection.run())
        await asyncio.sleep(1)
        assert UNREAD < flood.read_bytes < UNREAD + 2 * CHUNK
        stream = await anext(connection.streams())
        reading = aiter(stream)
        for _ in range(10):
            await anext(reading)
        await asyncio.sleep(1)
        assert UNREAD + 9 * CHUNK < flood.read_bytes < UNREAD + 12 * CHUNK
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run_virtual(main())


def test_a_connection_has_so_many_streams_open_and_forgets_those_that_are_done() -> None:
    async def main(close: bool, looked_at: bool = True) -> int:
        encoder = FrameEncoder()
        opened = [encoder.syn_stream(2 * number + 1, {}) for number in range(MAX_STREAMS + 10)]
        flood = Flood(b"", b"")
        connection = SpdyConnection(flood)
        for number, data in enumerate(opened):
            flood._first = data + (encoder.rst_stream(2 * number + 1) if close else b"")
            await connection.run()
            if looked_at:
                assert len([stream async for stream in connection.streams()]) <= 1
        return flood.written

    assert run_virtual(main(close=True)) == MAX_STREAMS + 10
    assert run_virtual(main(close=False)) == MAX_STREAMS
    # each run leaves its end behind the stream: nobody has looked at either
    assert run_virtual(main(close=True, looked_at=False)) == MAX_STREAMS // 2


def test_streams_share_the_room_for_what_is_unread_and_a_reset_gives_it_back() -> None:
    async def main() -> None:
        encoder, streams = FrameEncoder(), 2 * UNREAD // CHUNK
        opened = b"".join(
            encoder.syn_stream(2 * n + 1, {}) + encoder.data(2 * n + 1, bytes(CHUNK)) for n in range(streams)
        )
        flood = Flood(opened, b"")
        connection = SpdyConnection(flood)
        running = asyncio.ensure_future(connection.run())
        await asyncio.sleep(1)
        assert flood.written == UNREAD // CHUNK  # so many have been accepted: half of them
        first = await anext(connection.streams())
        await first.reset()
        await asyncio.sleep(1)
        assert flood.written == UNREAD // CHUNK + 2  # the reset, and one more
        assert [piece async for piece in first] == []
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run_virtual(main())


@pytest.mark.parametrize("ours", ["close", "reset", ""])
@pytest.mark.parametrize("theirs", ["fin", "rst", "more"])
def test_what_nobody_will_read_takes_no_room_whichever_side_ends_first(ours: str, theirs: str) -> None:
    async def main() -> None:
        encoder = FrameEncoder()
        near, far = pair()
        connection = SpdyConnection(far)
        running = asyncio.ensure_future(connection.run())
        await near.write(encoder.syn_stream(1, {}) + encoder.data(1, bytes(UNREAD // 2)))
        stream = await anext(connection.streams())
        if theirs == "fin":
            await near.write(encoder.data(1, b"", fin=True))
        await asyncio.sleep(1)
        assert connection.room.taken >= UNREAD // 2
        stream.stop_reading()
        if ours:
            await getattr(stream, ours)()
        if theirs == "rst":
            await near.write(encoder.rst_stream(1))
        elif theirs == "more":
            await near.write(encoder.data(1, bytes(UNREAD)) * 3 + encoder.data(1, b"", fin=True))
        await asyncio.sleep(1)
        assert connection.room.taken == 0
        assert stream.over or not ours
        assert list(connection._streams) == ([] if stream.over else [1])
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run_virtual(main())


def test_what_was_sent_before_a_reset_is_still_read() -> None:
    async def main() -> bytes:
        encoder = FrameEncoder()
        near, far = pair()
        connection = SpdyConnection(far)
        running = asyncio.ensure_future(connection.run())
        # containerd says how a command ended, and then resets all its streams at once
        await near.write(encoder.syn_stream(1, {}) + encoder.data(1, b"exit code 3") + encoder.rst_stream(1))
        stream = await anext(connection.streams())
        await asyncio.sleep(1)
        assert stream.over
        said = await all_of(stream)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return said

    assert run_virtual(main()) == b"exit code 3"


def test_a_half_that_is_closed_does_not_keep_the_other_from_being_read() -> None:
    async def main() -> None:
        encoder = FrameEncoder()
        near, far = pair()
        connection = SpdyConnection(far)
        running = asyncio.ensure_future(connection.run())
        await near.write(encoder.syn_stream(1, {}) + encoder.data(1, b"question", fin=True))
        stream = await anext(connection.streams())
        await asyncio.sleep(1)
        await stream.close()
        assert stream.over
        assert await all_of(stream) == b"question"
        assert connection.room.taken == 0
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    run_virtual(main())
