"""From the tokens of a Go template to its nodes.

Upstream: Go's `text/template/parse/parse.go` (`Tree.parse`, `Tree.pipeline`,
`Tree.operand`). Left out: complex numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.kubectl.printing.go_template import nodes
from lifecycle.kubectl.printing.go_template.lexer import Token, tokens
from lifecycle.kubectl.printing.go_template.unquoting import unquote

NAME = "output"
"""What kubectl calls its templates; messages say so."""
_OPERANDS = (
    "bool",
    "rune",
    ".",
    "field",
    "word",
    "number",
    "nil",
    "raw",
    "string",
    "variable",
    "open",
)
_LITERALS = (nodes.Bool, nodes.Dot, nodes.Nil, nodes.Number, nodes.String)


class TemplateSyntaxError(ValueError):
    """A text that is no template. `str()` is what Go says of it."""


@dataclass(slots=True)
class Template:
    """A parsed template: its text, and its blocks by name, its own under `NAME`."""

    text: str
    blocks: dict[str, nodes.Block]


def parse(text: str, functions: Collection[str]) -> Template:
    """Parse a template that may use `functions`. Raises TemplateSyntaxError."""
    return _Parser(text, functions).template()


class _Parser:
    def __init__(self, text: str, functions: Collection[str]) -> None:
        self._text = text
        self._functions = functions
        self._source: Iterator[Token] = tokens(text)
        self._read: list[Token] = []
        self._at = 0
        self._variables = ["$"]
        self._range_depth = 0
        self._action_line = 0
        self._blocks: dict[str, nodes.Block] = {}

    # -- tokens ------------------------------------------------------------------------

    def _next(self) -> Token:
        if self._at == len(self._read):
            self._read.append(
                next(
                    self._source,
                    self._read[-1] if self._read else Token("eof", 0, "", 1),
                )
            )
        self._at += 1
        return self._read[self._at - 1]

    def _peek(self) -> Token:
        token = self._next()
        self._at -= 1
        return token

    def _next_word(self) -> Token:
        while (token := self._next()).kind == "space":
            pass
        return token

    def _peek_word(self) -> Token:
        token = self._next_word()
        self._at -= 1
        return token

    def _wrong(self, message: str) -> TemplateSyntaxError:
        return TemplateSyntaxError(f"template: {NAME}:{self._read[-1].line}: {message}")

    def _unexpected(self, token: Token, where: str) -> TemplateSyntaxError:
        if token.kind != "error":
            return self._wrong(f"unexpected {token} in {where}")
        extra = ""
        if self._action_line not in (0, token.line):
            extra = (
                f"{'' if token.text.endswith(' action') else ' in action'} started at"
                f" {NAME}:{self._action_line}"
            )
        return self._wrong(f"{token}{extra}")

    def _expect(self, kinds: Collection[str], where: str) -> Token:
        token = self._next_word()
        if token.kind not in kinds:
            raise self._unexpected(token, where)
        return token

    # -- blocks ------------------------------------------------------------------------

    def template(self) -> Template:
        """The whole text."""
        root = nodes.Block(0)
        while self._peek().kind != "eof":
            start = self._at
            if self._next().kind == "left" and self._next_word().kind == "define":
                self._define()
                continue
            self._at = start
            node = self._text_or_action()
            if isinstance(node, nodes.End):
                raise self._wrong(f"unexpected {node}")
            root.nodes.append(node)
        self._add(NAME, root)
        return Template(self._text, self._blocks)

    def _define(self) -> None:
        where = "define clause"
        name = self._unquoted(self._expect(("string", "raw"), where))
        self._expect(("right",), where)
        self._add(name, self._own_block(where))

    def _own_block(self, where: str) -> nodes.Block:
        """A block that knows no variables from outside."""
        outside, self._variables = self._variables, ["$"]
        depth, self._range_depth = self._range_depth, 0
        block, end = self._block()
        if end.word != "end":
            raise self._wrong(f"unexpected {end} in {where}")
        self._variables, self._range_depth = outside, depth
        return block

    def _add(self, name: str, block: nodes.Block) -> None:
        known = self._blocks.get(name)
        if known is None or _empty(known):
            self._blocks[name] = block
        elif not _empty(block):
            raise self._wrong(
                f"template: multiple definition of template {go_quote(name)}"
            )

    def _block(self) -> tuple[nodes.Block, nodes.End]:
        block = nodes.Block(self._peek_word().at)
        while self._peek_word().kind != "eof":
            node = self._text_or_action()
            if isinstance(node, nodes.End):
                return block, node
            block.nodes.append(node)
        raise self._wrong("unexpected EOF")

    def _text_or_action(self) -> nodes.Node:
        token = self._next_word()
        if token.kind == "text":
            return nodes.Text(token.at, token.text)
        if token.kind != "left":
            raise self._unexpected(token, "input")
        self._action_line = token.line
        node = self._action()
        self._action_line = 0
        return node

    def _action(self) -> nodes.Node:
        token = self._next_word()
        match token.kind:
            case "if" | "with" | "range":
                return self._branch(token.kind)
            case "end":
                return nodes.End(self._expect(("right",), "end").at, "end")
            case "else":
                following = self._peek_word()
                if following.kind not in ("if", "with"):
                    self._expect(("right",), "else")
                return nodes.End(following.at, "else")
            case "break" | "continue":
                return self._jump(token)
            case "block" | "template":
                return self._call(token.kind)
        self._at -= 1
        return nodes.Action(token.at, self._pipeline("command", "right"))

    def _jump(self, token: Token) -> nodes.Node:
        word = "{{" + token.kind + "}}"
        after = self._next_word()
        if after.kind != "right":
            raise self._unexpected(after, word)
        if not self._range_depth:
            raise self._wrong(f"{word} outside {{{{range}}}}")
        return nodes.Jump(token.at, token.kind)

    def _branch(self, word: str) -> nodes.Node:
        known = len(self._variables)
        pipe = self._pipeline(word, "right")
        self._range_depth += word == "range"
        then, end = self._block()
        self._range_depth -= word == "range"
        otherwise = None
        if end.word == "else":
            if self._peek().kind == word and word in (
                "if",
                "with",
            ):  # `else if` needs no `end` of its own
                otherwise = nodes.Block(self._next().at, [self._branch(word)])
            else:
                otherwise, end = self._block()
                if end.word != "end":
                    raise self._wrong(f"expected end; found {end}")
        del self._variables[known:]
        return nodes.Branch(pipe.at, word, pipe, then, otherwise)

    def _call(self, word: str) -> nodes.Node:
        where = f"{word} clause"
        token = self._next_word()
        if token.kind not in ("string", "raw"):
            raise self._unexpected(token, where)
        name = self._unquoted(token)
        pipe = None
        if word == "block":
            pipe = self._pipeline(where, "right")
            self._add(name, self._own_block(where))
        elif self._next_word().kind != "right":
            self._at -= 1
            pipe = self._pipeline(where, "right")
        return nodes.Call(token.at, name, pipe)

    # -- pipelines ---------------------------------------------------------------------

    def _pipeline(self, where: str, end: str) -> nodes.Pipe:
        pipe = nodes.Pipe(self._peek_word().at)
        while self._declaration(pipe, where):
            pass
        while (token := self._next_word()).kind != end:
            if token.kind not in _OPERANDS:
                raise self._unexpected(token, where)
            self._at -= 1
            pipe.commands.append(self._command())
        if not pipe.commands:
            raise self._wrong(f"missing value for {where}")
        for i, command in enumerate(pipe.commands[1:], 2):
            if isinstance(command.arguments[0], _LITERALS):
                raise self._wrong(f"non executable command in pipeline stage {i}")
        return pipe

    def _declaration(self, pipe: nodes.Pipe, where: str) -> bool:
        """Read `$x :=`, `$x =` or `$x,`; whether another variable must follow."""
        token = self._peek_word()
        if token.kind != "variable":
            return False
        while self._next() is not token:
            pass
        start = self._at - 1
        after = self._next_word()
        if after.kind in ("assign", "declare"):
            pipe.assigns = after.kind == "assign"
            self._declare(pipe, token)
            return False
        if after.kind != "char" or after.text != ",":
            self._at = start
            return False
        self._declare(pipe, token)
        if where != "range" or len(pipe.declared) > 1:
            raise self._wrong(f"too many declarations in {where}")
        if self._peek_word().kind not in ("variable", "right", "close"):
            raise self._wrong("range can only initialize variables")
        return True

    def _declare(self, pipe: nodes.Pipe, token: Token) -> None:
        pipe.declared.append(nodes.Variable(token.at, [token.text]))
        self._variables.append(token.text)

    def _command(self) -> nodes.Command:
        command = nodes.Command(self._peek_word().at)
        while True:
            self._peek_word()
            operand = self._operand()
            if operand is not None:
                command.arguments.append(operand)
            token = self._next()
            if token.kind == "space":
                continue
            if token.kind in ("right", "close"):
                self._at -= 1
            elif token.kind != "pipe":
                raise self._unexpected(token, "operand")
            break
        if not command.arguments:
            raise self._wrong("empty command")
        return command

    def _operand(self) -> nodes.Node | None:
        node = self._term()
        if node is None or self._peek().kind != "field":
            return node
        at, names = self._peek().at, []
        while self._peek().kind == "field":
            names.append(self._next().text[1:])
        if isinstance(node, nodes.Field):
            return nodes.Field(at, [*node.names, *names])
        if isinstance(node, nodes.Variable):
            return nodes.Variable(at, [*node.names, *names])
        if isinstance(node, _LITERALS):
            raise self._wrong(f"unexpected . after term {go_quote(str(node))}")
        return nodes.Chain(at, node, names)

    def _term(self) -> nodes.Node | None:
        token = self._next_word()
        match token.kind:
            case "word":
                if token.text not in self._functions:
                    raise self._wrong(f"function {go_quote(token.text)} not defined")
                return nodes.Identifier(token.at, token.text)
            case ".":
                return nodes.Dot(token.at)
            case "nil":
                return nodes.Nil(token.at)
            case "variable":
                if token.text not in self._variables:
                    raise self._wrong(f"undefined variable {go_quote(token.text)}")
                return nodes.Variable(token.at, [token.text])
            case "field":
                return nodes.Field(token.at, [token.text[1:]])
            case "bool":
                return nodes.Bool(token.at, token.text == "true")
            case "number" | "rune":
                return nodes.Number(token.at, token.text, self._number(token))
            case "open":
                return self._pipeline("parenthesized pipeline", "close")
            case "string" | "raw":
                return nodes.String(token.at, token.text, self._unquoted(token))
        self._at -= 1
        return None

    def _unquoted(self, token: Token) -> str:
        try:
            return unquote(token.text)
        except ValueError as error:
            raise self._wrong(str(error)) from None

    def _number(self, token: Token) -> int | float:
        text = token.text
        if token.kind == "rune":
            letter = self._unquoted(token)
            if len(letter) != 1:
                raise self._wrong(
                    f"malformed character constant: {text}"
                    if letter
                    else "invalid syntax"
                )
            return ord(letter)
        digits = text.lstrip("+-")
        octal = (
            len(digits) > 1 and digits[0] == "0" and digits.replace("_", "").isdecimal()
        )
        try:
            number = (
                int(text, 0)
                if not octal
                else int(digits, 8) * (-1 if text[0] == "-" else 1)
            )
        except ValueError:
            return self._float(text)
        if not -(2**63) <= number < 2**64:
            raise self._wrong(f"integer overflow: {go_quote(text)}")
        return number

    def _float(self, text: str) -> float:
        try:
            if "_" in text:
                raise ValueError
            return float.fromhex(text) if "x" in text.lower() else float(text)
        except (ValueError, OverflowError):
            raise self._wrong(f"illegal number syntax: {go_quote(text)}") from None


def _empty(block: nodes.Block) -> bool:
    return all(
        isinstance(node, nodes.Text) and not node.text.strip() for node in block.nodes
    )
