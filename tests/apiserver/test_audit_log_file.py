"""A log file that is full becomes a backup; backups go by number and by age."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import pytest

from lifecycle.api import fast_json
from lifecycle.api.loop.clock import Clock, parse_time, run_virtual
from lifecycle.apiserver.audit.backends import LogBackend
from lifecycle.apiserver.audit.log_file import DAY, RotatingFile, Rotation
from lifecycle.apiserver.audit.options import AuditOptions

NOON = parse_time("2026-11-22T12:00:00Z")


class SetClock(Clock):
    """Says what it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.at = NOON

    def now(self) -> float:
        return self.at


def filled(folder: Path, rotation: Rotation, writes: int, every: float = 1.0) -> list[str]:
    """The names in a folder after so many writes, each of which fills a file of ten bytes."""
    clock = SetClock()
    file = RotatingFile(folder / "audit.log", rotation, clock, megabyte=10)
    for number in range(writes):
        clock.at = NOON + number * every
        file.write(b"%09d\n" % number)
    file.close()
    return sorted(path.name for path in folder.iterdir())


def test_a_full_file_is_named_after_the_time_it_was_full(tmp_path: Path) -> None:
    names = filled(tmp_path, Rotation(max_size=1), 3, every=1.25)
    assert names == ["audit-2026-11-22T12-00-01.250.log", "audit-2026-11-22T12-00-02.500.log", "audit.log"]
    assert (tmp_path / names[0]).read_text() == "000000000\n"
    assert (tmp_path / "audit.log").read_text() == "000000002\n"


def test_only_so_many_backups_are_kept_and_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "audit-notes.log").write_text("mine")
    (tmp_path / "other-2020-01-01T00-00-00.000.log").write_text("mine")
    names = filled(tmp_path, Rotation(max_size=1, max_backups=2, max_age=0), 6)
    assert [name for name in names if name.startswith("audit-2026")] == [
        "audit-2026-11-22T12-00-04.000.log",
        "audit-2026-11-22T12-00-05.000.log",
    ]
    assert {"audit-notes.log", "other-2020-01-01T00-00-00.000.log"} < set(names)


def test_backups_grow_old(tmp_path: Path) -> None:
    names = filled(tmp_path, Rotation(max_size=1, max_backups=0, max_age=3), 8, every=DAY)
    assert len(names) == 1 + 4  # full on days 4 to 7; on day 7 the one of day 4 is exactly three days old


def test_backups_can_be_compressed_and_then_still_count(tmp_path: Path) -> None:
    names = filled(tmp_path, Rotation(max_size=1, max_backups=2, max_age=0, compress=True), 5)
    assert [name[-7:] for name in names] == [".log.gz", ".log.gz", "dit.log"]
    assert gzip.decompress((tmp_path / names[1]).read_bytes()) == b"000000003\n"


def test_a_file_is_continued_and_never_full_without_a_limit(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text("12345\n")
    assert filled(tmp_path, Rotation(max_size=1), 1)[-1] == "audit.log"
    assert (tmp_path / "audit.log").read_text() == "000000000\n"
    assert len(filled(tmp_path / "other", Rotation(max_size=0), 5)) == 1
    assert (tmp_path / "other").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "other/audit.log").stat().st_mode & 0o777 == 0o600


def test_an_event_longer_than_a_file_is_lost_and_nothing_fails(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    backend = LogBackend(tmp_path / "audit.log", SetClock(), Rotation(max_size=1))
    with caplog.at_level(logging.ERROR):
        run_virtual(backend.write(b"x" * (1024 * 1024)))
    assert "write length 1048577 exceeds maximum file size 1048576" in caplog.text
    run_virtual(backend.write(b"{}"))
    run_virtual(backend.close())
    assert (tmp_path / "audit.log").read_bytes() == b"{}\n"


EVENT = {
    "auditID": "a-1",
    "stage": "ResponseComplete",
    "requestURI": "/api/v1/pods?limit=1",
    "verb": "list",
    "user": {"username": "jane", "groups": ["devs", "ops"]},
    "impersonatedUser": {"username": "bob"},
    "sourceIPs": ["10.0.0.1", "127.0.0.1"],
    "userAgent": 'say "hi"',
    "objectRef": {"resource": "pods"},
    "responseStatus": {"metadata": {}, "code": 200},
    "requestReceivedTimestamp": "2026-11-22T12:00:00.120300Z",
}


def test_the_legacy_format_is_a_line_of_text(tmp_path: Path) -> None:
    backend = LogBackend(tmp_path / "audit.log", SetClock(), legacy=True)
    run_virtual(backend.write(fast_json.dumps(EVENT)))
    received = {**EVENT, "stage": "RequestReceived", "user": {}, "sourceIPs": []}
    for key in ("impersonatedUser", "responseStatus", "userAgent"):
        del received[key]
    received["requestReceivedTimestamp"] = "2026-11-22T12:00:00.000000Z"
    run_virtual(backend.write(fast_json.dumps(received)))
    run_virtual(backend.close())
    assert (tmp_path / "audit.log").read_text().splitlines() == [
        '2026-11-22T12:00:00.1203Z AUDIT: id="a-1" stage="ResponseComplete" ip="10.0.0.1" method="list" user="jane" '
        'groups="\\"devs\\",\\"ops\\"" as="bob" asgroups="<lookup>" user-agent="say \\"hi\\"" namespace="<none>" '
        'uri="/api/v1/pods?limit=1" response="200"',
        '2026-11-22T12:00:00Z AUDIT: id="a-1" stage="RequestReceived" ip="<unknown>" method="list" user="<none>" '
        'groups="<none>" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" '
        'uri="/api/v1/pods?limit=1" response="<deferred>"',
    ]


def test_limits_and_formats_are_checked() -> None:
    policy = Path("policy")
    AuditOptions(policy, Path("log"), rotation=Rotation(0, 0, 0), log_format="legacy").check()
    with pytest.raises(
        ValueError,
        match=r"^\[--audit-log-maxage -1 can't be a negative number, --audit-log-maxsize -2 can't be a negative number\]$",
    ):
        AuditOptions(policy, Path("log"), rotation=Rotation(max_size=-2, max_age=-1)).check()
    with pytest.raises(ValueError, match=r'invalid audit log format xml, allowed formats are "legacy,json"$'):
        AuditOptions(policy, Path("log"), log_format="xml").check()
