"""A second round: what changed after a plugin had its say is shown to it once more.

A sidecar injector cannot set limits for a container that a later webhook adds. So when
a webhook or a policy has changed the object, all mutating plugins run a second time,
and with them those webhooks and policies that asked for it (`reinvocationPolicy:
IfNeeded`) and have been called before. There is no third round.

Upstream: `apiserver/pkg/admission/reinvocation.go`,
`plugin/webhook/mutating/reinvocationcontext.go`, v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import beside


def _copied(obj: Object | None) -> Any:
    return fast_json.loads(fast_json.dumps(obj))


@dataclass(slots=True)
class PluginRound:
    """What one plugin remembers between the rounds: whom it has called, whom it has to
    call again, and how it left the object.
    """

    called: set[Any] = field(default_factory=set)
    again: set[Any] = field(default_factory=set)
    output: Object | None = None

    def require(self) -> None:
        """The object has changed: all that were called so far want to see it again."""
        self.again |= self.called
        self.called.clear()

    async def keep(self, obj: Object | None, size: int) -> None:
        """How the plugin has left the object, which may go on changing. `size`: bytes
        of its JSON, about, if there may be many.
        """
        self.output = await beside(size, _copied, obj)

    def begin(self, obj: Object | None) -> None:
        """The second round begins with this object: has anybody else changed it?"""
        if self.output != obj:
            self.require()


@dataclass(slots=True)
class Reinvocation:
    """The rounds of one request."""

    second: bool = False
    should_reinvoke: bool = False
    plugins: dict[str, PluginRound] = field(default_factory=dict)

    def of(self, plugin: str) -> PluginRound:
        """A plugin's memory."""
        return self.plugins.setdefault(plugin, PluginRound())
