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

__all__ = ["FIELD_RULES", "TEXT_RULES", "FieldRule", "Rule", "Site", "TextRule"]

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
