"""An `EncryptionConfiguration` is read strictly, and refused in the words of the real kube-apiserver.

Each row of `REFUSED` is what the real one of 1.36.2 wrote after `command failed`; `tests/live/test_encryption_at_rest.py` asks it again.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from lifecycle.apiserver.storage.encryption_config.reader import read_encryption_file
from lifecycle.apiserver.storage.encryption_config.transformers import IDENTITY, Transformers
from lifecycle.apiserver.storage.value.aes import CBCTransformer, GCMTransformer
from lifecycle.apiserver.storage.value.secretbox import SecretboxTransformer
from lifecycle.apiserver.storage.value.transformer import TransformError
from tests.apiserver.encryption_files import configuration, key, provider

IDENTITY_ONLY: list[Object] = [{"identity": {}}]
HEAD = {"kind": "EncryptionConfiguration", "apiVersion": "apiserver.config.k8s.io/v1"}
SHORT = {"name": "k", "secret": base64.b64encode(b"0123456789").decode()}
DECODING = 'error decoding encryption provider configuration file "FILE": '
NOT_AN_OBJECT = (
    "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
NO_KIND_IN_SCHEME = (
    'no kind "{}" is registered for version "{}" in scheme "pkg/server/options/encryptionconfig/config.go:142"'
)
OVERLAP = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked"
NOTHING = '{"AESGCM":null,"AESCBC":null,"Secretbox":null,"Identity":null,"KMS":null}'
NO_PROVIDER = "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"


def one(providers: list[Object], *resources: str, **more: object) -> str:
    return json.dumps({**configuration((resources or ("secrets",), providers)), **more})


def keys(*each: Object, kind: str = "aescbc") -> list[Object]:
    return [{kind: {"keys": list(each)}}]


def kms(**fields: object) -> list[Object]:
    return [{"kms": fields}]


REFUSED: dict[str, tuple[str, str]] = {
    "an empty file": (
        "",
        'error while loading file: encryption provider configuration file "FILE" is empty',
    ),
    "broken JSON": (
        "{{{",
        f"{DECODING}couldn't get version/kind; json parse error: invalid character '{{' looking for beginning of object key string",
    ),
    "a list": ("[]", DECODING + NOT_AN_OBJECT.format("array")),
    "a text": ("hello", DECODING + NOT_AN_OBJECT.format("string")),
    "no kind": ("resources: []", f"{DECODING}Object 'Kind' is missing in 'resources: []'"),
    "null": ("null", f"{DECODING}Object 'Kind' is missing in 'null'"),
    "no version": ('{"kind": "x"}', f"{DECODING}Object 'apiVersion' is missing in '{{\"kind\": \"x\"}}'"),
    "a kind that is a number": (
        json.dumps({**HEAD, "kind": 3}),
        f"{DECODING}couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ),
    "another kind": (
        one(IDENTITY_ONLY, kind="Foo"),
        DECODING + NO_KIND_IN_SCHEME.format("Foo", "apiserver.config.k8s.io/v1"),
    ),
    "another version": (
        one(IDENTITY_ONLY, apiVersion="apiserver.config.k8s.io/v2"),
        DECODING + NO_KIND_IN_SCHEME.format("EncryptionConfiguration", "apiserver.config.k8s.io/v2"),
    ),
    "a configuration of something else": (
        json.dumps({**HEAD, "kind": "AdmissionConfiguration"}),
        "got unexpected config type: apiserver.config.k8s.io/v1, Kind=AdmissionConfiguration",
    ),
    "an unknown field": (one(IDENTITY_ONLY, foo=1), f'{DECODING}strict decoding error: unknown field "foo"'),
    "an unknown provider": (
        one([{"rot13": {}}]),
        f'{DECODING}strict decoding error: unknown field "resources[0].providers[0].rot13"',
    ),
    "several unknown fields": (
        one([{"identity": {"x": 1}, "foo": 2}], foo=1),
        f'{DECODING}strict decoding error: unknown field "resources[0].providers[0].identity.x", '
        'unknown field "resources[0].providers[0].foo", unknown field "foo"',
    ),
    "a provider in another case": (
        one([{"Identity": {}}]),
        f'{DECODING}strict decoding error: unknown field "resources[0].providers[0].Identity"',
    ),
    "resources that are a text": (
        json.dumps({**HEAD, "resources": "x"}),
        f"{DECODING}json: cannot unmarshal string into Go struct field EncryptionConfiguration.resources of "
        "type []v1.ResourceConfiguration",
    ),
    "a resource that is a number": (
        json.dumps({**HEAD, "resources": [{"resources": [1], "providers": IDENTITY_ONLY}]}),
        f"{DECODING}json: cannot unmarshal number into Go struct field ResourceConfiguration.resources.resources of type string",
    ),
    "a provider that is a number": (
        one([{"identity": 3}]),
        f"{DECODING}json: cannot unmarshal number into Go struct field ProviderConfiguration.resources.providers.identity "
        "of type v1.IdentityConfiguration",
    ),
    "a timeout that is none": (one(kms(timeout="abc")), f'{DECODING}time: invalid duration "abc"'),
    "no rules": (json.dumps(HEAD), "resources: Required value: at least one resources is required"),
    "an empty rule": (
        json.dumps({**HEAD, "resources": [{}]}),
        "[resources[0].resources: Required value: at least one resources[0].resources is required, "
        "resources[0].providers: Required value: at least one resources[0].providers is required]",
    ),
    "an element without a provider": (one([{}]), f"resources[0].providers[0]: Invalid value: {NOTHING}: {NO_PROVIDER}"),
    "a provider that is null": (
        one([{"identity": None}]),
        f"resources[0].providers[0]: Invalid value: {NOTHING}: {NO_PROVIDER}",
    ),
    "no keys": (one(keys()), "resources[0].providers[0].aescbc.keys: Required value: at least one keys is required"),
    "a key without a name": (
        one(keys(key("", "1"))),
        "resources[0].providers[0].aescbc.keys[0].name: Required value: name is a mandatory field for a key",
    ),
    "a key without a secret": (
        one(keys({"name": "k"})),
        "resources[0].providers[0].aescbc.keys[0].secret: Required value: secret is a mandatory field for a key",
    ),
    "a secret that is not base64": (
        one(keys({"name": "k", "secret": "!!"}, kind="aesgcm")),
        'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
    ),
    "a short secret": (
        one(keys(SHORT)),
        'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": '
        "secret is not of the expected length, got 10, expected one of [16 24 32]",
    ),
    "a short secret for a secretbox": (
        one(keys(key("k", "1", 16), kind="secretbox")),
        'resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": '
        "secret is not of the expected length, got 16, expected one of [32]",
    ),
    "a capital letter": (
        one(IDENTITY_ONLY, "Secrets"),
        'resources[0].resources[0]: Invalid value: "Secrets": resource name should not contain capital letters',
    ),
    "a star": (
        one(IDENTITY_ONLY, "*"),
        "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the resources from core API group "
        "or *.* to encrypt all resources",
    ),
    "a resource twice": (
        one(IDENTITY_ONLY, "secrets", "secrets"),
        'resources[0].resources: Invalid value: ["secrets","secrets"]: the same resource cannot be specified multiple times',
    ),
    "a wildcard over a name": (
        one(IDENTITY_ONLY, "secrets", "*."),
        f'resources[0].resources: Invalid value: ["secrets","*."]: {OVERLAP}',
    ),
    "everything over a name": (
        one(IDENTITY_ONLY, "secrets", "*.*"),
        f'resources[0].resources: Invalid value: ["secrets","*.*"]: {OVERLAP}',
    ),
    "everything twice": (
        one(IDENTITY_ONLY, "*.*", "*.*"),
        '[resources[0].resources: Invalid value: ["*.*","*.*"]: the same resource cannot be specified multiple times, '
        f'resources[0].resources: Invalid value: ["*.*","*.*"]: {OVERLAP}]',
    ),
    "names that are none": (
        one(IDENTITY_ONLY, "", ".", ".."),
        'resources[0].resources: Invalid value: ["",".",".."]: the same resource cannot be specified multiple times',
    ),
    "resources that are not stored so": (
        one(IDENTITY_ONLY, "events.events.k8s.io", "*.extensions", "pods.*", "serviceipallocations"),
        "[resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' objects are stored using the 'events' "
        "API group in etcd. Use 'events' instead in the config file, resources[0].resources[1]: Invalid value: \"*.extensions\": "
        "'extensions' group has been removed and cannot be used for encryption, resources[0].resources[2]: Invalid value: \"pods.*\": "
        'encrypting the same resource across groups is not supported, resources[0].resources[3]: Invalid value: "serviceipallocations": '
        "resources which do not have REST API/s cannot be encrypted]",
    ),
    "a KMS provider with everything wrong": (
        one(kms(apiVersion="v2", name="a:b", endpoint="http://x", cachesize=3, timeout="-1s")),
        "[resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':', "
        'resources[0].providers[0].kms.timeout: Invalid value: "-1s": timeout should be a positive value, '
        'resources[0].providers[0].kms.endpoint: Invalid value: "http://x": unsupported scheme "http" for KMS provider, only unix is '
        "supported, resources[0].providers[0].kms.cachesize: Invalid value: 3: cachesize is not supported in v2]",
    ),
    "a KMS provider of another version": (
        one(kms(apiVersion="v3")),
        "[resources[0].providers[0].kms.name: Required value: name is a mandatory field for a provider, "
        'resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms, '
        'resources[0].providers[0].kms.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, '
        "only v1 and v2 are supported]",
    ),
    "two KMS providers of one name": (
        one([*kms(apiVersion="v2", name="a"), *kms(apiVersion="v2", name="a", endpoint="/x")]),
        '[resources[0].providers[0].kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms, '
        'resources[0].providers[1].kms.name: Invalid value: "a": duplicate KMS provider name a, names must be unique, '
        'resources[0].providers[1].kms.endpoint: Invalid value: "/x": unsupported scheme "" for KMS provider, only unix is supported]',
    ),
    "no cache": (
        one(kms(apiVersion="v1", name="a", endpoint="unix:///x", timeout="1s", cachesize=0)),
        "resources[0].providers[0].kms.cachesize: Invalid value: 0: cachesize should be a positive value, or negative to disable",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said_as_the_real_server_says_it(case: str, tmp_path: Path) -> None:
    text, complaint = REFUSED[case]
    path = tmp_path / "encryption.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"^error while parsing file: ") as refused:
        EncryptionOptions(path).check()
    assert str(refused.value) == "error while parsing file: " + complaint.replace("FILE", str(path))


def test_a_field_given_twice_is_a_complaint(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    path.write_text(
        "kind: EncryptionConfiguration\napiVersion: apiserver.config.k8s.io/v1\n"
        "resources:\n- resources: [secrets]\n  resources: [configmaps]\n  providers: [{identity: {}}]\n"
    )
    with pytest.raises(
        ValueError,
        match=r'strict decoding error: yaml: unmarshal errors:\n  line 5: key "resources" already set in map$',
    ):
        read_encryption_file(path)


def test_a_missing_file_and_a_reload_of_none_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "absent"
    with pytest.raises(ValueError, match=rf'"{path}": open {path}: no such file or directory$'):
        EncryptionOptions(path).check()
    with pytest.raises(ValueError, match=r"automatic-reload must be set with --encryption-provider-config$"):
        EncryptionOptions(automatic_reload=True).check()


def test_a_complaint_about_an_element_repeats_no_secret_of_it(tmp_path: Path) -> None:
    """The real server prints the whole element, keys and all."""
    path = tmp_path / "encryption.yaml"
    path.write_text(one([{"identity": {}, **provider("aescbc", "k1")}]))
    with pytest.raises(
        ValueError,
        match=r"more than one provider specified in a single element, should split into different list elements$",
    ) as refused:
        EncryptionOptions(path).check()
    assert '"AESCBC":{"Keys":[{"Name":"k1","Secret":"REDACTED"}]}' in str(refused.value)
    assert key("k1", "1")["secret"] not in str(refused.value)


def test_a_kms_provider_is_refused_since_there_is_none_here(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    path.write_text(one(kms(apiVersion="v2", name="a", endpoint="unix:///x")))
    with pytest.raises(
        ValueError,
        match=r"error while building transformers: this server has no KMS providers; use secretbox, aesgcm or aescbc$",
    ):
        EncryptionOptions(path).check()


def test_the_old_kind_and_line_breaks_in_a_secret_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "encryption.yaml"
    secret = key("k", "1")["secret"]
    path.write_text(
        one(keys({"name": "k", "secret": f"{secret[:5]}\n{secret[5:]}\r\n"}), kind="EncryptionConfig", apiVersion="v1")
    )
    EncryptionOptions(path).check()


def test_the_first_rule_that_names_a_resource_decides() -> None:
    boxes = [[provider("secretbox", str(number))] for number in range(4)]
    chosen = Transformers(
        configuration(
            (("secrets",), boxes[0]),
            (("*.apps",), boxes[1]),
            (("deployments.apps", "secrets"), boxes[2]),
            (("*.*",), boxes[3]),
        )
    )

    def key_of(group: str, plural: str) -> str:
        return chosen.transformer_for((group, plural)).to_storage(b"", b"")[len("k8s:enc:secretbox:v1:")]

    assert chr(key_of("", "secrets")) == "0"
    assert chr(key_of("apps", "deployments")) == "1", "a rule behind a wildcard is masked"
    assert chr(key_of("", "configmaps")) == "3"
    assert chr(key_of("example.com", "widgets")) == "3"
    core = Transformers(configuration((("*.",), boxes[0])))
    assert core.transformer_for(("", "pods")) is not IDENTITY
    assert core.transformer_for(("apps", "deployments")) is IDENTITY


def test_a_second_rule_for_a_resource_adds_providers_to_read_with() -> None:
    both = Transformers(
        configuration((("secrets",), [provider("aescbc", "1")]), (("secrets",), [provider("aescbc", "2")]))
    )
    old = Transformers(configuration((("secrets",), [provider("aescbc", "2")])))
    value = old.transformer_for(("", "secrets")).to_storage(b"x", b"")
    assert both.transformer_for(("", "secrets")).from_storage(value, b"") == (b"x", True)


TRANSFORMERS = {
    "aescbc": CBCTransformer(b"k" * 32),
    "aesgcm": GCMTransformer(b"k" * 24),
    "secretbox": SecretboxTransformer(b"k" * 32),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
@given(data=st.binary(max_size=200))
def test_what_was_encrypted_can_be_read_and_looks_different_each_time(name: str, data: bytes) -> None:
    transformer = TRANSFORMERS[name]
    stored = transformer.to_storage(data, b"/registry/secrets/a")
    assert transformer.from_storage(stored, b"/registry/secrets/a") == (data, False)
    assert stored != transformer.to_storage(data, b"/registry/secrets/a")


@pytest.mark.parametrize("name", ["aesgcm", "secretbox"])
@given(data=st.binary(max_size=40), at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_sealed_value_that_was_changed_is_noticed(name: str, data: bytes, at: int, bit: int) -> None:
    stored = bytearray(TRANSFORMERS[name].to_storage(data, b""))
    stored[at % len(stored)] ^= 1 << bit
    with pytest.raises(TransformError):
        TRANSFORMERS[name].from_storage(bytes(stored), b"")


def test_only_aesgcm_binds_a_value_to_its_key() -> None:
    values = {name: each.to_storage(b"x", b"/registry/secrets/a") for name, each in TRANSFORMERS.items()}
    with pytest.raises(TransformError, match=r"^cipher: message authentication failed$"):
        TRANSFORMERS["aesgcm"].from_storage(values["aesgcm"], b"/registry/secrets/b")
    for name in ("aescbc", "secretbox"):
        assert TRANSFORMERS[name].from_storage(values[name], b"/registry/secrets/b") == (b"x", False)


UNREADABLE = {
    ("aesgcm", b"x" * 11): "the stored data was shorter than the required size",
    ("aesgcm", b"x" * 30): "cipher: message authentication failed",
    ("aescbc", b"x"): "the stored data was shorter than the required size",
    ("aescbc", b"x" * 83): "the stored data is not a multiple of the block size",
    ("aescbc", b"x" * 16): "invalid PKCS7 data (empty or not padded)",
    ("secretbox", b"x" * 39): "the stored data was shorter than the required size",
    ("secretbox", b"x" * 80): "output array was not large enough for encryption",
}
"""Measured at the real server, but for the 16 bytes of aescbc: there it panics."""


@pytest.mark.parametrize(("name", "stored"), UNREADABLE)
def test_a_value_that_cannot_be_decrypted_says_why(name: str, stored: bytes) -> None:
    with pytest.raises(TransformError) as error:
        TRANSFORMERS[name].from_storage(stored, b"")
    assert str(error.value) == UNREADABLE[name, stored]
