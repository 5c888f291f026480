"""What might go wrong in numbers that nobody ever sets."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from lifecycle.agreements.default_settings import PAIR, PARAMETER, WHERE, default_settings_agreement
from tests.agreements.sabotages.judged import Answers, IsSpoilt, Judged, Sabotage

EVERYTHING = [
    where
    for program in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy")
    for where in WHERE[program].values()
]


def one_more(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Our number is another one, where it is."""
    if pair := PAIR.match(where):
        pairs = resolve_name(f"lifecycle.{pair[1]}")
        monkeypatch.setattr(f"lifecycle.{pair[1]}", tuple((name, n + (name == pair[2])) for name, n in pairs))
    elif parameter := PARAMETER.match(where):
        init = resolve_name(f"lifecycle.{parameter[1]}").__init__
        code, defaults = init.__code__, init.__defaults__ or ()
        if init.__kwdefaults__ and parameter[2] in init.__kwdefaults__:
            changed = {**init.__kwdefaults__, parameter[2]: init.__kwdefaults__[parameter[2]] + 1}
            monkeypatch.setattr(init, "__kwdefaults__", changed)
            return
        with_default = code.co_varnames[: code.co_argcount][-len(defaults) :]
        monkeypatch.setattr(
            init,
            "__defaults__",
            tuple(
                value + 1 if name == parameter[2] else value for name, value in zip(with_default, defaults, strict=True)
            ),
        )
    else:
        monkeypatch.setattr(f"lifecycle.{where}", resolve_name(f"lifecycle.{where}") + 1)


def other_numbers(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some of our numbers are other ones."""
    for number, where in enumerate(EVERYTHING):
        if spoilt(number):
            one_more(monkeypatch, where)


JUDGED = (
    Judged(
        "default_settings_agreement",
        default_settings_agreement,
        sabotages=(
            Sabotage(
                "a dead node is believed for as long as it was of old",
                "controllers.node_lifecycle.health.NODE_MONITOR_GRACE_PERIOD",
                40.0,
                ("node-monitor-grace-period",),
            ),
        ),
        answers=(Answers("what the number is", "", other_numbers),),
    ),
)
