"""The token file is read as Go's CSV reader reads it, and refused in the words of the real kube-apiserver.

`REFUSED` and `TAKEN` are what the real one of 1.36.2 did; `tests/live/test_real_token_file.py` asks it again.
"""

from __future__ import annotations

import csv
import io
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import UserInfo
from lifecycle.apiserver.authn.token_file import csv_records, read_token_file
from lifecycle.cli import main

COLUMNS = "token file 'FILE' must have at least 3 columns (token, user name, user uid), found {}"
MISSING = 'parse error on line {}, column {}: extraneous or missing " in quoted-field'

REFUSED: dict[bytes, str] = {
    b"a,b\n": COLUMNS.format(2),
    b"a\n": COLUMNS.format(1),
    b"# c\n": COLUMNS.format(1),
    b'tok,u,1,"unclosed\n': MISSING.format(1, 19),
    b'tok,u,"a"b,\n': MISSING.format(1, 9),
    b'"a': MISSING.format(1, 3),
    b'a,b,c\n\n"x"y,b,c\n': MISSING.format(3, 3),
    b'a"b,u,1\n': 'parse error on line 1, column 2: bare " in non-quoted-field',
    b'a,b,c,"one\ntwo\n': f"record on line 1; {MISSING.format(2, 5)}",
}
TAKEN: dict[bytes, dict[str, UserInfo]] = {
    b"": {},
    b"\n\n": {},
    b",u,1\n": {},
    b"tok,,\n": {"tok": UserInfo("", (), "")},
    b" tok, u, 1\n": {" tok": UserInfo(" u", (), " 1")},
    b"a,b,c\na,d,e\n": {"a": UserInfo("d", (), "e")},
    b'a,b,c,"g1,g2",more\r\n': {"a": UserInfo("b", ("g1", "g2"), "c")},
    b'a,b,c,"g1, g2"': {"a": UserInfo("b", ("g1", " g2"), "c")},
    b"a,b,c,\n": {"a": UserInfo("b", ("",), "c")},
    b'"a""b","u\nx",1\n': {'a"b': UserInfo("u\nx", (), "1")},
    b"\xff,u,1\n": {"\ufffd": UserInfo("u", (), "1")},
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_is_none_is_refused_in_the_real_servers_words(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_bytes(text)
    with pytest.raises(ValueError, match="column") as refused:
        read_token_file(path)
    assert str(refused.value) == REFUSED[text].replace("FILE", str(path))


@pytest.mark.parametrize("text", TAKEN)
def test_a_file_is_read_as_go_reads_it(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_bytes(text)
    assert read_token_file(path) == TAKEN[text]


def test_an_empty_and_a_repeated_token_are_a_warning_that_repeats_none(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens.csv"
    path.write_bytes(b",u,1\ns3cret,u,1\ns3cret,v,2\n")
    with caplog.at_level(logging.DEBUG):
        assert read_token_file(path) == {"s3cret": UserInfo("v", (), "2")}
    assert caplog.messages == [
        f"empty token has been found in token file '{path}', record number '1'",
        f"duplicate token has been found in token file '{path}', record number '3'",
    ]


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=8)


@given(st.lists(st.lists(PLAIN, min_size=1, max_size=5), max_size=5))
def test_what_a_csv_library_writes_is_read_back(rows: list[list[str]]) -> None:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert list(csv_records(written.getvalue().encode())) == rows


def test_the_command_line_takes_a_token_file_and_refuses_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text("a,b\n")
    for command in (["up", "--nodes", "1"], ["run", "apiserver"]):
        result = CliRunner().invoke(main, [*command, "--token-auth-file", str(path)])
        assert result.exit_code == 1
        assert COLUMNS.format(2).replace("FILE", str(path)) in result.output
