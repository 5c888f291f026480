"""Which transformer a resource's objects go through.

A configuration is a list of rules. The first that names a resource – by its own name,
`*.group` or `*.*` – decides; a rule behind a wildcard that covers it is masked. What
no rule names is kept as it is.

Upstream: `apiserver/pkg/server/options/encryptionconfig/config.go`
(`getTransformerOverridesAndKMSPluginProbes`, `prefixTransformersAndProbes`,
`transformerFromOverrides`), v1.36. Left out: KMS providers, which talk to a plugin of
another process; a configuration with one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.storage.encryption_config.validation import (
    ANY,
    GroupResource,
    decode_secret,
    parse_group_resource,
)
from lifecycle.apiserver.storage.value.aes import CBCTransformer, GCMTransformer
from lifecycle.apiserver.storage.value.secretbox import SecretboxTransformer
from lifecycle.apiserver.storage.value.transformer import (
    IdentityTransformer,
    PrefixTransformer,
    PrefixTransformers,
    Transformer,
)
from lifecycle.etcd.codec import ENCRYPTED

WITH_KEYS: dict[str, tuple[str, Callable[[bytes], Transformer]]] = {
    "aesgcm": ("AES", GCMTransformer),
    "aescbc": ("AES", CBCTransformer),
    "secretbox": ("Secretbox", SecretboxTransformer),
}
IDENTITY = IdentityTransformer()


class Transformers:
    """The transformers of a valid configuration. Raises ValueError for a provider that
    is not here.
    """

    def __init__(self, document: Object) -> None:
        rules: dict[GroupResource, list[PrefixTransformer]] = {}
        for entry in document["resources"]:
            chain = [_provider(provider) for provider in entry["providers"]]
            for name in entry["resources"]:
                resource = parse_group_resource(name)
                if (resource[0], "*") not in rules and ANY not in rules:
                    rules.setdefault(resource, []).extend(chain)
        self._overrides: Mapping[GroupResource, Transformer] = {
            resource: PrefixTransformers("no matching prefix found", chain)
            for resource, chain in rules.items()
        }

    def transformer_for(self, resource: GroupResource) -> Transformer:
        """The one of a resource, `(group, plural)`."""
        for name in (resource, (resource[0], "*"), ANY):
            if name in self._overrides:
                return self._overrides[name]
        return IDENTITY


def _provider(provider: Object) -> PrefixTransformer:
    for name, (family, transformer) in WITH_KEYS.items():
        if provider.get(name) is not None:
            keys = [
                PrefixTransformer(
                    f"{key['name']}:".encode(),
                    transformer(decode_secret(key["secret"])),
                )
                for key in provider[name]["keys"]
            ]
            error = f"no matching key was found for the provided {family} transformer"
            prefix = ENCRYPTED + f"{name}:v1:".encode()
            return PrefixTransformer(prefix, PrefixTransformers(error, keys))
    if provider.get("kms") is not None:
        raise ValueError(
            "error while building transformers: this server has no KMS providers; use"
            " secretbox, aesgcm or aescbc"
        )
    return PrefixTransformer(b"", IDENTITY)
