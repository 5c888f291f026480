"""A cluster that answered once, and answers the same again.

`Recording("recordings/kind-1.36.2")` reads what a real cluster said: HTTP exchanges by
scenario, watch streams, kubectl's output, commands run in its nodes, DNS answers,
etcd's raw keys, the audit log, component logs. Everything is read lazily. The official
Python client works against it (`recording.client.AppsV1Api()`), so a line of a notebook
cannot tell it from a live cluster.

Left out: a recording does not change. A create that was recorded answers what it
answered, and nothing else moves.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.api import fast_json
from lifecycle.api.late_import import late_import
from lifecycle.inspector.client_namespace import ClientNamespace
from lifecycle.inspector.errors import InspectorError
from lifecycle.inspector.exchange import Exchange, Question
from lifecycle.inspector.node import RecordedNode
from lifecycle.inspector.provenance import Provenance
from lifecycle.inspector.recorded_transport import RecordedTransport

if TYPE_CHECKING:
    import kubernetes.client
else:
    kubernetes = late_import("kubernetes")

NAMESPACES = "namespaces.json"
"""Which namespaces were made for a recording, and instead of which: `{scenario: {made:
instead of}}`.
"""


class Recording:
    """A recorded cluster. `scenario` and `moment` narrow the view, see `at`."""

    live = False

    def __init__(
        self, path: str | Path, *, scenario: str = "", moment: str = ""
    ) -> None:
        self.path = Path(path)
        self.name = self.path.name
        if not (self.path / "http").is_dir():
            raise InspectorError(
                f"{self.path} is not a recording: it has no http/ folder"
            )
        self.scenario = scenario
        self.moment = moment

    def __repr__(self) -> str:
        where = "".join(f", {part!r}" for part in (self.scenario, self.moment) if part)
        return f"Recording({self.name!r}{where})"

    # -- what there is -----------------------------------------------------------------

    def scenarios(self) -> list[str]:
        """Names of the recorded HTTP scenarios."""
        return sorted(path.stem for path in (self.path / "http").glob("*.jsonl"))

    def stand_ins(self, scenario: str) -> dict[str, str]:
        """Namespaces made for a recording → the ones they stand for; empty where a
        scenario was played in its own place.
        """
        file = self.path / NAMESPACES
        known: dict[str, dict[str, str]] = (
            json.loads(file.read_text()) if file.is_file() else {}
        )
        return known.get(scenario, {})

    def exchanges(self, scenario: str) -> tuple[Exchange, ...]:
        """All exchanges of a scenario, in order. Raises InspectorError if the scenario
        was not recorded.
        """
        if scenario not in self._cache:
            file = self.path / "http" / f"{scenario}.jsonl"
            if not file.exists():
                raise InspectorError(
                    f"{self.name} has no scenario {scenario!r}; it has:"
                    f" {', '.join(self.scenarios())}"
                )
            exchanges = []
            for number, line in enumerate(file.read_bytes().splitlines(), 1):
                try:
                    exchanges.append(
                        Exchange.from_line(scenario, fast_json.loads(line))
                    )
                except (ValueError, KeyError, TypeError) as error:
                    raise InspectorError(
                        f"line {number} of {file} is no recorded exchange: {error!r}"
                    ) from None
            self._cache[scenario] = tuple(exchanges)
        return self._cache[scenario]

    def moments(self, scenario: str) -> list[str]:
        """The notes of a scenario's exchanges, in order, each once: `after create`,
        `after expose`, …
        """
        return list(
            dict.fromkeys(e.moment for e in self.exchanges(scenario) if e.moment)
        )

    def at(self, scenario: str, moment: str = "") -> Recording:
        """The same recording, answering only from one scenario, and there from one
        moment. Raises InspectorError for unknown ones.
        """
        if moment and moment not in self.moments(scenario):
            raise InspectorError(
                f"{scenario!r} has no moment {moment!r}; it has:"
                f" {', '.join(self.moments(scenario))}"
            )
        self.exchanges(scenario)
        view = Recording(self.path, scenario=scenario, moment=moment)
        view._cache = self._cache
        return view

    @cached_property
    def _cache(self) -> dict[str, tuple[Exchange, ...]]:
        return {}

    # -- asking ------------------------------------------------------------------------

    @cached_property
    def api_client(self) -> kubernetes.client.ApiClient:
        """The official client's `ApiClient`, its REST transport replaced by this
        recording.
        """
        configuration = kubernetes.client.Configuration()
        configuration.host = "https://recorded"
        api_client = kubernetes.client.ApiClient(configuration)
        api_client.rest_client = self._transport  # type: ignore[assignment]
        return api_client

    @cached_property
    def client(self) -> ClientNamespace:
        """The official client, connected:
        `client.AppsV1Api().list_namespaced_deployment("journey")`.
        """
        return ClientNamespace(self.api_client)

    def get(self, path: str, *, accept: str = "application/json") -> Any:
        """The JSON (or text) that a GET of `path` answered. No client is asked: this
        works where the official one is not to be had.

        Raises InspectorError, naming what was recorded, if the question was never
        asked; `kubernetes.client.ApiException` for an answer of 400 or more.
        """
        status, headers, answer = self._transport.answer(
            Question.of("GET", path, accept), None
        )
        text = answer if isinstance(answer, str) else json.dumps(answer)
        if status >= 400:
            error = kubernetes.client.ApiException(status=status)
            error.headers, error.body = headers, text
            raise error
        return answer if isinstance(answer, str) else json.loads(text)

    @cached_property
    def _transport(self) -> RecordedTransport:
        return RecordedTransport(self)

    def watch(self, scenario: str) -> Iterator[dict[str, Any]]:
        """The lines of `watch/<scenario>.jsonl`: `t`, `path`, `event`."""
        return self._lines(self.path / "watch" / f"{scenario}.jsonl")

    def audit(self, scenario: str = "journey") -> Iterator[dict[str, Any]]:
        """Audit events of a scenario, in the order of the API server's log."""
        return self._lines(self.path / "audit" / f"{scenario}.jsonl")

    def node(self, name: str) -> RecordedNode:
        """A node whose commands were recorded. `worker` is short for
        `lifecycle-worker`.
        """
        names = self.nodes()
        for candidate in (name, f"lifecycle-{name}"):
            if candidate in names:
                return RecordedNode(candidate, self.path / "node" / candidate)
        raise InspectorError(
            f"{self.name} recorded no node {name!r}; it has:"
            f" {', '.join(names) or 'none'}"
        )

    def nodes(self) -> list[str]:
        """Names of the nodes whose commands were recorded."""
        folder = self.path / "node"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def kubectl(self, name: str) -> str:
        """What kubectl printed, by the file's name: `07-get`,
        `dry-run/create-deployment`.
        """
        return self.text(f"kubectl/{name}.txt")

    def dns(self, name: str = "svc") -> str:
        """What `dig` printed."""
        return self.text(f"dns/{name}.txt")

    def etcd(self, name: str) -> Any:
        """A file of the etcd folder: parsed if it is JSON."""
        text = self.text(f"etcd/{name}")
        return json.loads(text) if name.endswith(".json") else text

    def log(self, name: str = "kube-scheduler.v10") -> str:
        """A component's log."""
        return self.text(f"logs/{name}.log")

    def text(self, relative: str) -> str:
        """Any file of the recording. Raises InspectorError naming its neighbours if it
        is not there.
        """
        file = self.path / relative
        if not file.is_file():
            near = (
                sorted(p.name for p in file.parent.iterdir())
                if file.parent.is_dir()
                else []
            )
            raise InspectorError(
                f"{self.name} has no {relative}; beside it:"
                f" {', '.join(near) or 'nothing'}"
            )
        return file.read_text()

    # -- where it comes from -----------------------------------------------------------

    @cached_property
    def provenance(self) -> Provenance:
        """Version and day, from the cluster's own answers."""
        version, when = "unknown", "unknown day"
        try:
            version = self._version()
            when = self._day()
        except (InspectorError, KeyError, ValueError):
            pass
        at = f" at {self.scenario}" if self.scenario else ""
        at += f", {self.moment}" if self.moment else ""
        return Provenance(f"{self.name}{at}", version, when, "recorded")

    def _version(self) -> str:
        for exchange in self.exchanges("discovery"):
            if exchange.path == "/version":
                return str(exchange.response["gitVersion"])
        raise InspectorError("no /version recorded")

    def _day(self) -> str:
        scenarios = self.scenarios()
        told = ["journey"] if "journey" in scenarios else scenarios
        stamps = [
            entry["time"]
            for scenario in told
            for exchange in self.exchanges(scenario)
            if isinstance(exchange.response, dict)
            for entry in exchange.response.get("metadata", {}).get("managedFields", ())
        ]
        return (
            datetime.fromisoformat(min(stamps)).date().isoformat()
            if stamps
            else "unknown day"
        )

    def _lines(self, file: Path) -> Iterator[dict[str, Any]]:
        if not file.is_file():
            raise InspectorError(f"{self.name} has no {file.parent.name}/{file.name}")
        with file.open("rb") as stream:
            for line in stream:
                yield fast_json.loads(line)
