"""Rules of custom resources that do not compile, or would cost too much: what the real API server says of two hundred of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.api.http.wire import MASTERS
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.priced_rules import ANSWERS, HOW_MANY, RULES, answers

REAL: dict[str, list[str]] = {rule: said for rule, *said in json.loads(ANSWERS.read_text())}
AT_ONCE = 40

FORMATS = "the formats by name are no library of ours yet"
TWO = "the library knows no loops over keys and values"
BIND = "to upstream `cel.bind` is a function like others, and its variable is missed, too"
KNOWN = {
    "!format.named('uuid').hasValue()": FORMATS,
    "format.dns1123Label().validate(self.s).hasValue()": FORMATS,
    "self.ls.all(i, x, x == 'a')": TWO,
    "self.m.all(k, v, v == 'a' && k == 'b')": TWO,
    "self.m.transformMap(k, v, v + 'a').size() > 1": TWO,
    "self.ls.transformList(i, v, v).size() > 1": TWO,
    "self.lo.sortBy(e, e.a).size() > 1": "a macro that the library has not",
    "'%s'.format([1, 'a']) == '1'": "a literal format is checked when it is compiled there, and when it is used here",
    "quantity(self.s).add(quantity(self.su)).sign() == 1": "a function of the standard library there: other words",
    "self.bo && self.i": "the operand is to blame there, and the operator here",
    "self.ll[0] == 1": "what is in a list within a list may be anything here",
    **{rule: BIND for rule in RULES if rule.startswith("cel.bind")},
}
"""Where ours says something else, and why."""


@pytest.mark.parametrize("first", range(0, len(RULES), AT_ONCE))
def test_a_rule_is_refused_for_what_the_real_server_refuses_it_for(first: int) -> None:
    async def main() -> list[Any]:
        server = create_server_chain(MemoryStore())
        await server.start()
        try:
            target = HandlerTarget(server, ("kubernetes-admin", (MASTERS,)))
            return await answers(target, RULES[first : first + AT_ONCE])
        finally:
            await server.stop()

    said = {rule: told for rule, *told in run_virtual(main())}
    assert {rule: told for rule, told in said.items() if rule not in KNOWN} == {
        rule: REAL[rule] for rule in said if rule not in KNOWN
    }
    assert [rule for rule in said if rule in KNOWN and said[rule] == REAL[rule]] == [], "known no longer"


def test_every_rule_has_an_answer_and_most_costs_are_told_to_a_tenth() -> None:
    assert list(REAL) == RULES
    factors = [said for rule in RULES for said in REAL[rule] if "exceeds budget by factor of" in said]
    assert len(HOW_MANY) * len(RULES) > len(factors) > len(RULES)
    assert sum("more than 100x" not in each for each in factors) > 150
