"""The small languages of kubectl's flags: `a=1,b=2` for labels, `A=1` for environment
variables and annotations.

Upstream: `kubectl/pkg/generate/generate.go` (`ParseLabels`),
`kubectl/pkg/cmd/util/env_file.go` and `generate/versioned/run.go` (`parseEnvs`),
`kubectl/pkg/cmd/util/helpers.go` (`ParsePairs`, `GetResourcesAndPairs`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.generators.data_sources import env_name_errors


def parse_labels(text: str) -> dict[str, str]:
    """`a=1,b=2` as a dict. Raises CommandError for a part without exactly one `=` or
    without a key.
    """
    if not text:
        raise CommandError("no label spec passed")
    labels: dict[str, str] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or "=" in value:
            raise CommandError(f"unexpected label spec: {part}")
        if not key:
            raise CommandError("unexpected empty label key")
        labels[key] = value
    return labels


def parse_envs(items: Sequence[str]) -> list[dict[str, str]]:
    """`A=1` items as environment variables. Raises CommandError."""
    envs = []
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name or env_name_errors(name):
            raise CommandError(f"invalid env: {item}")
        envs.append({"name": name, "value": value} if value else {"name": name})
    return envs


def parse_pairs(items: Sequence[str], what: str) -> dict[str, str]:
    """`a=1` items as a dict. Raises CommandError naming those that are not pairs."""
    pairs: dict[str, str] = {}
    invalid = []
    for item in items:
        key, equals, value = item.partition("=")
        if equals and key:
            pairs[key] = value
        else:
            invalid.append(item)
    if invalid:
        raise CommandError(f"invalid {what} format: {', '.join(invalid)}")
    return pairs


def resources_and_pairs(args: Sequence[str], what: str) -> tuple[list[str], list[str]]:
    """(what names resources, the changes). Raises CommandError if a resource comes
    after a change.
    """
    changes = [
        ("=" in arg and arg[0] != "=") or (arg.endswith("-") and arg != "-")
        for arg in args
    ]
    first = changes.index(True) if True in changes else len(args)
    if False in changes[first:]:
        raise CommandError(
            f"all resources must be specified before {what} changes:"
            f" {args[changes.index(False, first)]}"
        )
    return list(args[:first]), list(args[first:])
