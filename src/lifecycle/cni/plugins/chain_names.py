"""Names of iptables chains that belong to one container: 28 characters, the most of
which come from a hash.

Upstream: `containernetworking/plugins`, `pkg/utils/utils.go` (`FormatChainName`,
`MustFormatChainNameWithPrefix`, `FormatComment`), v1.9.
"""

from __future__ import annotations

MAX_CHAIN_LENGTH = 28
CHAIN_PREFIX = "CNI-"


def format_chain_name(network: str, container_id: str, prefix: str = "") -> str:
    """`CNI-<prefix><hash>`: SHA-512 of name and ID, written one after the other."""
    import hashlib  # brings OpenSSL along, which most calls of a plugin do not need

    digest = hashlib.sha512((network + container_id).encode()).hexdigest()
    return f"{CHAIN_PREFIX}{prefix}{digest}"[:MAX_CHAIN_LENGTH]


def format_comment(network: str, container_id: str) -> str:
    """What stands beside each rule."""
    return f'name: "{network}" id: "{container_id}"'
