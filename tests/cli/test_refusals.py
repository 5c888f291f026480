"""What goes wrong outside the program is one line and a code; what goes wrong inside is not hidden."""

from __future__ import annotations

import asyncio
import os
import signal
from functools import partial
from typing import Any

import click
import kubernetes
import pytest
import urllib3
import yaml
from click.testing import CliRunner

from lifecycle.api.extras import MissingExtraError
from lifecycle.api.status import not_found
from lifecycle.cli import main, refusal, signals
from lifecycle.cli.refusal import Misused, Refusal, Words, refusals
from lifecycle.etcd.store import StoreError
from lifecycle.inspector import InspectorError

REFUSED = kubernetes.client.ApiException(status=403, reason="Forbidden")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (TimeoutError("too slow"), "too slow"), (TimeoutError(), "it took too long"),
        (OSError(2, "No such file", "a"), "a: No such file"), (OSError(2, "No such file", "a", None, "b"), "b: No such file"),
        (OSError("odd"), "odd"), (OSError(98, "in use"), "[Errno 98] in use"), (InspectorError("no"), "no"),
        (MissingExtraError("plots"), str(MissingExtraError("plots"))), (not_found("pods", "p"), 'pods "p" not found'),
        (StoreError("gone"), "gone"), (ValueError("bad"), "bad"), (kubernetes.config.ConfigException("odd"), "odd"),
        (yaml.YAMLError("odd"), "not readable as YAML: odd"),
        (urllib3.exceptions.HTTPError("odd"), "the cluster does not answer: odd"),
        (REFUSED, "the cluster refuses: 403 Forbidden"),
    ],
)  # fmt: skip
def test_what_went_wrong_is_said(error: Exception, line: str) -> None:
    with pytest.raises(Refusal) as refused, refusals():
        raise error
    assert (refused.value.message, refused.value.exit_code, type(refused.value)) == (line, 1, Refusal)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("error", [BrokenPipeError(), KeyError("x"), AttributeError("x"), KeyboardInterrupt()])
def test_what_is_nobodys_fault_outside_is_raised(error: BaseException) -> None:
    with pytest.raises(type(error)) as raised, refusals():
        raise error
    assert raised.value is error


def test_an_error_of_a_library_that_is_not_loaded_is_not_looked_for() -> None:
    assert refusal._loaded("no.such.library", "Error") == ()
    assert refusal._loaded("yaml", "YAMLError") == (yaml.YAMLError,)


def words(does: Any) -> Words:
    group = Words("words")

    @group.command()
    @click.argument("given", nargs=-1)
    @click.option("--n", type=int)
    def word(given: tuple[str, ...], n: int | None) -> Any:
        return does()

    return group


def raises(error: BaseException) -> Any:
    def broken() -> None:
        raise error

    return broken


@pytest.mark.parametrize(
    ("does", "code", "said"),
    [
        (lambda: None, 0, ""), (lambda: "text", 0, ""), (lambda: 7, 7, ""), (raises(Refusal("a\n b")), 1, "lifecycle: a b\n"),
        (raises(Misused("a")), 2, "lifecycle: a\n"), (raises(click.ClickException("a")), 1, "Error: a\n"),
        (raises(KeyboardInterrupt()), 130, "\n"), (raises(click.Abort()), 130, ""),
        (raises(click.exceptions.Exit(143)), 143, ""),
    ],
)  # fmt: skip
def test_how_a_word_leaves(does: Any, code: int, said: str) -> None:
    result = CliRunner().invoke(words(does), ["word"])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", said)


def test_what_click_says_in_four_lines_is_one() -> None:
    result = CliRunner().invoke(words(None), ["word", "--n", "x"], prog_name="lifecycle")
    said = "lifecycle: Invalid value for '--n': 'x' is not a valid integer. (see lifecycle word --help)\n"
    assert (result.exit_code, result.stderr) == (2, said)
    unknown = CliRunner().invoke(words(None), ["wort"], prog_name="lifecycle")
    assert unknown.stderr.startswith("lifecycle: No such command 'wort'.")
    assert unknown.stderr.endswith(" (see lifecycle --help)\n")
    nothing = CliRunner().invoke(main, [], prog_name="lifecycle")
    assert (nothing.exit_code, nothing.stderr.startswith("Usage: lifecycle [OPTIONS] COMMAND [ARGS]...")) == (2, True)


def test_a_name_of_ones_own_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        words(None).main(["word", "--no"], prog_name="other")
    assert left.value.code == 2
    assert capsys.readouterr().err == "lifecycle: No such option '--no'. Did you mean '--n'? (see other word --help)\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_counts(number: int, request: pytest.FixtureRequest) -> None:
    request.addfinalizer(partial(signal.signal, signal.SIGHUP, signal.getsignal(signal.SIGHUP)))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever asks under nohup ignores it

    async def wait() -> int:
        waiting = signals.first_signal()
        os.kill(os.getpid(), number)
        got = await asyncio.wait_for(waiting, 5)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0)
        return got

    assert asyncio.run(wait()) == number


def test_a_terminal_that_goes_away_is_nothing_if_that_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    async def wait() -> None:
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "add_signal_handler", lambda number, *_: told.append(number))
        for ignored in (True, False):
            before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
            signals.first_signal()
            signal.signal(signal.SIGHUP, before)

    asyncio.run(wait())
    assert told == [signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
