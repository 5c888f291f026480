"""What might go wrong in kubectl."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lifecycle.agreements.kubectl import kubeconfig, recorded_kubeconfigs
from lifecycle.agreements.kubectl.kubeconfig import CHANGES, QUESTIONS, kubeconfig_agreement, official_client_agreement
from lifecycle.agreements.kubectl.kubectl_output import historical_agreement, kubectl_agreement, versions_agreement
from lifecycle.agreements.kubectl.printed import printed_agreement
from lifecycle.agreements.kubectl.published_schemas import published_schemas_agreement
from lifecycle.agreements.kubectl.recorded_kubeconfigs import recorded_kubeconfig_agreement
from lifecycle.agreements.kubectl.request_transport import journey, request_agreement, typed_again
from lifecycle.agreements.kubectl.retries import retries_agreement
from lifecycle.agreements.kubectl.traced_requests import traced_requests
from lifecycle.agreements.kubectl.what_kubectl_tells import told_agreement
from lifecycle.kubectl.failures import CommandError
from tests.agreements.sabotages.judged import Answers, IsSpoilt, Judged, Sabotage, called, opened
from tests.agreements.sabotages.told import Told
from tests.claims.broken.breakage import Wrapped, afterwards

HONEST = kubeconfig.ours
"""Ours stands in for the real kubectl: here it is asked whether the table can tell a difference, not whether there is one."""


def misread_files(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some commands print a line more."""
    commands = [*QUESTIONS, *CHANGES]

    def ours(arguments: Any, environ: Any) -> Any:
        code, out, err = HONEST(arguments, environ)
        return code, out, f"{err}spoilt\n" if spoilt(commands.index(arguments)) else err

    monkeypatch.setattr(kubeconfig.kubeconfig_agreement, "__kwdefaults__", {
        **(kubeconfig.kubeconfig_agreement.__kwdefaults__ or {}), "mine": ours,
    })  # fmt: skip


def misread_recorded_files(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some commands print a line more, of the sets that were recorded as well."""
    commands = [*QUESTIONS, *CHANGES]

    told = Told(misread_recorded_files)

    def ours(arguments: Any, environ: Any) -> Any:
        folder = Path(environ["HOME"]).parent
        if told.known:
            before, code, texts, files = told.again(arguments)
            out, err = (text.replace(before, str(folder)) for text in texts)
            for name, text in files.items():
                (folder / name).write_text(text)
        else:
            code, out, err = HONEST(arguments, environ)
            files = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
            told.keep(arguments, (str(folder), code, (out, err), files))
        return code, out, f"{err}spoilt\n" if spoilt(commands.index(arguments)) else err

    monkeypatch.setattr(recorded_kubeconfigs, "ours", ours)


def the_last_names_the_context(real: Any) -> Any:
    def merge(into: Any, other: Any) -> None:
        real(into, other)
        into["current-context"] = other.get("current-context") or into["current-context"]

    return merge


def other_words(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some lines are answered with a word more."""
    from lifecycle.agreements.kubectl import kubectl_output

    number = iter(range(1 << 30))

    async def typed(argv: Any, transport: Any) -> Any:
        answer = await kubectl_output.type_line(argv, transport)
        return replace(answer, err=f"{answer.err}spoilt") if spoilt(next(number)) else answer

    monkeypatch.setattr(kubectl_output.kubectl_agreement, "__defaults__", (typed,))


def other_requests(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some requests are sent with another query."""
    called("agreements.kubectl.request_transport.sent", lambda request, *_: {**request, "query": {"spoilt": "true"}})(
        monkeypatch, spoilt
    )


@cache
def typed_once() -> dict[str, Any]:
    """Our answers to the journey's lines: what is spoilt is the way from there."""
    recording = opened()
    return typed_again({name: t for name, t in journey(recording).items() if traced_requests(t.err)})


def explains_anything(real: Any) -> Any:
    def explained(*arguments: Any, **more: Any) -> str:
        try:
            return str(real(*arguments, **more))
        except CommandError:
            return ""

    return explained


JUDGED = (
    Judged(
        "told_agreement",
        told_agreement,
        answers=(
            Answers(
                "what arrives and what is told",
                "",
                called(
                    "agreements.kubectl.what_kubectl_tells.asked", lambda answer, *_: {**answer, "exit": 9}, once=True
                ),
            ),
        ),
    ),
    Judged(
        "retries_agreement",
        retries_agreement,
        sabotages=(
            Sabotage(
                "nobody asks again",
                "kubectl.request.throttling.MAX_RETRIES",
                0,
                (
                    "429 twice",
                    "two seconds",
                    "for ever",
                    "503",
                    "500, a second",
                    "hangs up once$",
                    "resets",
                    "429, a second,",
                ),
                because="one number bounds them all",
            ),
            Sabotage(
                "every refusal is asked again, a second later",
                "kubectl.request.throttling.retry_after_seconds",
                afterwards(lambda _, response: 1 if response.status >= 400 else None),
                ("no time named", "404", "a date", "two seconds", "no second each"),
                because="one function reads all answers",
            ),
        ),
        answers=(
            Answers(
                "how often it asks",
                "",
                called(
                    "agreements.kubectl.retries._asked", lambda seen, *_: {**seen, "requests": seen["requests"] + 1}
                ),
            ),
        ),
    ),
    Judged(
        "printed_agreement",
        printed_agreement,
        answers=(
            Answers(
                "lines",
                "",
                called("agreements.kubectl.printed._ours", lambda said, *_: {**said, "exit": "spoilt"}),
            ),
        ),
    ),
    Judged(
        "published_schemas_agreement",
        published_schemas_agreement,
        sabotages=(
            Sabotage(
                "a field that is not there is explained",
                "kubectl.commands.explain.explained",
                Wrapped(explains_anything),
                (r"no\.such\.field",),
            ),
        ),
        answers=(
            Answers(
                "patches",
                r"^apply \|",
                called("kubectl.commands.apply.three_way_merge_patch", lambda patch, *_: {**patch, "spoilt": True}),
            ),
            Answers(
                "texts",
                r"^explain \| (?!.*no\.such)",
                called("kubectl.commands.explain.explained", lambda text, *_: f"{text}spoilt"),
            ),
        ),
    ),
    Judged(
        "kubeconfig_agreement",
        lambda: kubeconfig_agreement(HONEST, count=2),
        answers=(Answers("commands", "", misread_files),),
    ),
    Judged(
        "recorded_kubeconfig_agreement",
        recorded_kubeconfig_agreement,
        answers=(Answers("commands", "", misread_recorded_files),),
        sabotages=(
            Sabotage(
                "of several files the last one names the current context",
                "kubectl.kubeconfig.loading.merge",
                Wrapped(the_last_names_the_context),
                (
                    r"config view (-o json --raw|--minify -o json --raw)$",
                    r"config (view|get-contexts|current-context)$",
                    r"config (use-context dev|rename-context dev lab|delete-context prod)$",
                ),
                because="each of these asks for the current context, or shows or keeps it",
            ),
        ),
    ),
    Judged(
        "official_client_agreement",
        lambda: official_client_agreement(count=10),
        sabotages=(
            Sabotage(
                "certificates are never verified",
                "agreements.kubectl.kubeconfig.client_config",
                afterwards(lambda config, *_: replace(config, insecure=True)),
                ("sets of files",),
            ),
        ),
    ),
    Judged(
        "kubectl_agreement",
        lambda: kubectl_agreement(opened()),
        answers=(Answers("lines", "", other_words),),
    ),
    Judged(
        "versions_agreement",
        lambda: versions_agreement(opened("bare-1.20.2"), opened()),
        of_others="two recordings of kubectl are compared",
    ),
    Judged(
        "historical_agreement",
        lambda: historical_agreement(opened("bare-1.20.2"), 20),
        answers=(
            Answers(
                "the model of the generators",
                "",
                called(
                    "agreements.kubectl.kubectl_output.run",
                    lambda generated, *_: replace(generated, obj={**generated.obj, "spoilt": True}),
                ),
            ),
        ),
    ),
    Judged(
        "request_agreement",
        lambda: request_agreement(opened(), typed_once()),
        answers=(Answers("requests", "", other_requests),),
    ),
)
