"""What commands printed on recorded nodes, for every stage that a node shows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from lifecycle.compare import Comparison
from lifecycle.inspector import Recording


def node_moments(recording: Recording, command: str) -> Iterator[tuple[str, str, str]]:
    """(node, moment, output) of a command, wherever it was recorded."""
    for name in recording.nodes():
        node = recording.node(name)
        for moment in node.files().get(command, ()):
            yield name, moment, node.run(command, moment=moment)


def cni_conf(text: str) -> str:
    """The first configuration file in a dump of the directory."""
    return re.split(r"^== .*\n", text, flags=re.MULTILINE)[1]


def lines_equal(ours: Iterable[str], theirs: Iterable[str]) -> Comparison:
    """One field for each line that either side has; a line as often here as there."""
    here, there = Counter(ours), Counter(theirs)
    result = Comparison()
    for line in sorted(here | there):
        result.field(line, _times(line, here[line]), _times(line, there[line]))
    return result


def _times(line: str, count: int) -> str | None:
    if not count:
        return None
    return line if count == 1 else f"{count}× {line}"
