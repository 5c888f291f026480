"""The freedoms: what Kubernetes may choose differently each time, one rule each, in the
order they are tried.

Nothing else is ever overlooked: a value no rule speaks for has to be equal.
"""

from __future__ import annotations

from lifecycle.compare.field_rules import (
    Age,
    Coalescing,
    ConfigHash,
    ContinueToken,
    EventCount,
    NodePort,
    NodeTopology,
    ResourceVersion,
)
from lifecycle.compare.rule import FieldRule, Rule, Site, TextRule
from lifecycle.compare.text_rules import (
    Address,
    Certificate,
    ContainerId,
    CurrentRevision,
    Duration,
    EventHash,
    FirstBinding,
    GeneratedName,
    SchedulerChoice,
    ServerAddress,
    Time,
    Token,
    Uid,
)

__all__ = [
    "FIELD_RULES",
    "FIELD_RULES_OF",
    "TEXT_RULES",
    "FieldRule",
    "Rule",
    "Site",
    "TextRule",
]

FIELD_RULES: tuple[FieldRule, ...] = (
    ResourceVersion(),
    ContinueToken(),
    NodePort(),
    Coalescing(),
    EventCount(),
    Age(),
    NodeTopology(),
    ConfigHash(),
)
FIELD_RULES_OF: dict[str, tuple[FieldRule, ...]] = {
    key: tuple(rule for rule in FIELD_RULES if key in rule.keys)
    for key in {key for each in FIELD_RULES for key in each.keys}
}
"""Those that look at the fields with a key; about most keys there are none."""
TEXT_RULES: tuple[TextRule, ...] = (
    Certificate(),
    CurrentRevision(),
    FirstBinding(),
    Token(),
    Uid(),
    ContainerId(),
    Time(),
    ServerAddress(),
    SchedulerChoice(),
    EventHash(),
    GeneratedName(),
    Address(),
    Duration(),
)
