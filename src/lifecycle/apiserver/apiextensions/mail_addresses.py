"""Addresses of mail, as Go reads one: `a@b`, `Name <a@b>`, even a group of one.

Upstream: Go 1.26's `net/mail` (`ParseAddress`, `addrParser`) and `mime`
(`WordDecoder`); what they would return is left out, but for whether it is an address.
"""

from __future__ import annotations

import base64
import binascii
import re

from lifecycle.api.validation.addresses import is_go_ip

_SPACES = re.compile("[ \t]*+")
_ATOM = re.compile('[^\x00-\x20\x7f()<>\\[\\]:;@\\\\,"]++')
_INVISIBLE = "\x00-\x08\x0a-\x1f\x7f"
_QUOTED = re.compile(rf'"((?:[^{_INVISIBLE}\\"]|\\[^{_INVISIBLE}])*+)"')
_LITERAL = re.compile(r"\[([^\]]*+)\]")
_OF_A_COMMENT = re.compile(r"\\.|[()]", re.DOTALL)
_ENCODED_WORD = re.compile(r"=\?([^?]+)\?([^?])\?([^?]*)\?=", re.DOTALL)
_QUOTED_PRINTABLE = re.compile(r"(?:=[0-9a-fA-F]{2}|[\t\n\r -<>-~])*+")
_CHARSETS = ("utf-8", "iso-8859-1", "us-ascii")


def is_mail_address(text: str) -> bool:
    """Is it exactly one?"""
    reader = _Reader(text)
    try:
        count = reader.addresses(may_be_group=True)
        reader.skip_comments()
    except ValueError:
        return False
    return reader.is_at_end() and count == 1


class _Reader:
    """Reads a text from the front. All of it raises ValueError at what it cannot read,
    and takes no more time than the text is long.
    """

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def is_at_end(self) -> bool:
        return self._at == len(self._text)

    def addresses(self, *, may_be_group: bool) -> int:
        """How many: one, or those of a group."""
        self._skip_spaces()
        begin = self._at
        try:
            self._address()
        except ValueError:
            self._at = begin
        else:
            self._skip_spaces()
            if self._takes("("):
                for word in re.split("[ \t]+", self._comment()):
                    _check_charset(word)
            return 1
        if not self._text.startswith("<", begin):
            self._phrase()
        self._skip_spaces()
        if may_be_group and self._takes(":"):
            return self._group()
        self._want("<")
        self._address()
        self._want(">")
        return 1

    def skip_comments(self) -> None:
        self._skip_spaces()
        while self._takes("("):
            self._comment()
            self._skip_spaces()

    def _group(self) -> int:
        self._skip_spaces()
        count = 0
        while not self._takes(";"):
            if count:
                self._want(",")
            count += self.addresses(may_be_group=False)
            self.skip_comments()
        self.skip_comments()
        return count

    def _address(self) -> None:
        """`local@domain`."""
        self._skip_spaces()
        if self._text.startswith('"', self._at):
            if not self._match(_QUOTED)[1]:
                raise ValueError("empty quoted string in addr-spec")
        else:
            self._dotted()
        self._want("@")
        self._skip_spaces()
        if not self._text.startswith("[", self._at):
            self._dotted()
        elif not is_go_ip(self._match(_LITERAL)[1]):
            raise ValueError("no address in domain-literal")

    def _phrase(self) -> None:
        """The name before an address. An error after its first word only ends it."""
        words = 0
        while True:
            if words:
                self.skip_comments()
            self._skip_spaces()
            if self.is_at_end() and words:
                return
            try:
                if self._text.startswith('"', self._at):
                    self._match(_QUOTED)
                else:
                    _check_charset(self._match(_ATOM)[0])
            except ValueError:
                if not words:
                    raise
                return
            words += 1

    def _dotted(self) -> None:
        atom = self._match(_ATOM)[0]
        if ".." in atom or atom.startswith(".") or atom.endswith("."):
            raise ValueError("a dot beside nothing in atom")

    def _comment(self) -> str:
        """A comment whose bracket was taken, with its inner ones."""
        depth, begin = 1, self._at
        for match in _OF_A_COMMENT.finditer(self._text, begin):
            depth += (match[0] == "(") - (match[0] == ")")
            if not depth:
                self._at = match.end()
                inside = self._text[begin : match.start()]
                return re.sub(r"\\(.)", r"\1", inside, flags=re.DOTALL)
        raise ValueError("misformatted parenthetical comment")

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise ValueError("invalid string")
        self._at = match.end()
        return match

    def _skip_spaces(self) -> None:
        self._match(_SPACES)

    def _takes(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += found
        return found

    def _want(self, char: str) -> None:
        if not self._takes(char):
            raise ValueError(f"no {char}")


def _check_charset(word: str) -> None:
    """Raises ValueError if a word is encoded well, but in a charset that Go does not
    know; one that is encoded badly is a word like any other.
    """
    match = _ENCODED_WORD.fullmatch(word)
    if match is None or match[1].lower() in _CHARSETS:
        return
    encoding, text = match[2].lower(), match[3]
    if encoding == "b":
        try:
            base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return
    elif encoding != "q" or _QUOTED_PRINTABLE.fullmatch(text) is None:
        return
    raise ValueError("charset not supported")
