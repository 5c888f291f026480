"""The value of more than six hundred expressions of Kubernetes' CEL libraries, or what is wrong with them, as the real API server has it.

They are the rules of fields of custom resources: addresses, URLs, quantities, versions, formats, lists, texts and sets.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.cel_expressions import ANSWERS, AT_ONCE, values

REAL: dict[str, Any] = json.loads(ANSWERS.read_text())
LIBRARIES = [list(REAL)[first : first + AT_ONCE] for first in range(0, len(REAL), AT_ONCE)]


def ours(expressions: list[str]) -> dict[str, Any]:
    async def main() -> dict[str, Any]:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            target = HandlerTarget(server, ("kubernetes-admin", (MASTERS,)))
            fields = {f"f{number}": rule for number, rule in enumerate(expressions)}
            said = await values(target, "things", fields)
            return {rule: said[field] for field, rule in fields.items()}
        finally:
            await server.stop()

    return run_virtual(main())


STRING = "`string()` of an address: the library takes no overloads of what it has itself"
FORMATS = "the formats by name are no library of ours yet"
EARLY = "a literal format is checked when it is compiled there, and when it is used here"
KNOWN = {
    **dict.fromkeys((rule for rule in REAL if rule.startswith(("string(ip(", "string(cidr("))), STRING),
    **dict.fromkeys((rule for rule in REAL if rule.startswith("format.named")), FORMATS),
    **dict.fromkeys(("'%s %s'.format(['x']) == ''", "'%q'.format(['x']) == ''", "'%d'.format(['x']) == ''"), EARLY),
    "'abc 123 def'.find('(') == ''": "the same of a literal pattern",
    "quantity('1').sign() == 1": "it is a function of the standard library there, so a method has another than none",
    "'%e'.format([1.5]) == '1.500000e+00'": "an exponent is written otherwise there",
    "'%d|%b|%x|%X|%o|%e|%.1f'.format([5, 5, 255, 255, 8, 1.5, 2.25]) == '5|101|ff|FF|10|1.500000e+00|2.2'": "the same",
    "'%s'.format([{'a': 1}]) == '{a: 1}'": "a map is written otherwise there",
}
"""Where ours says something else, and why."""


@pytest.mark.parametrize("expressions", LIBRARIES, ids=[each[0] for each in LIBRARIES])
def test_an_expression_has_the_value_that_the_real_server_gives_it(expressions: list[str]) -> None:
    said = ours(expressions)
    assert {rule: said[rule] for rule in expressions if rule not in KNOWN} == {
        rule: REAL[rule] for rule in expressions if rule not in KNOWN
    }
    assert [rule for rule in expressions if rule in KNOWN and said[rule] == REAL[rule]] == [], "known no longer"


def test_there_are_true_ones_false_ones_and_wrong_ones() -> None:
    kinds = [value if isinstance(value, bool) else "wrong" for value in REAL.values()]
    assert min(kinds.count(True), kinds.count(False)) > 250
    assert kinds.count("wrong") > 30
