"""Who may use an image that is already here.

For ten years an image that one pod had pulled with a password was there for every other
pod of the node too. Since 1.35 the kubelet keeps a record of each pull: with which
secret it succeeded, or that it needed none. A pod that brings no credentials on record
is made to pull again, even under `IfNotPresent`; the registry then decides. Images that
were on the node before the kubelet pulled anything are not checked.

Records are kept by image and, within it, by name without tag or digest; of credentials
only a hash is kept, beside the secret that they came from. Whoever brings the same
credentials out of another secret, or that secret with other credentials in it, is
believed, and that is written down, too: passwords are changed, and secrets are copied.

Upstream: `pkg/kubelet/images/pullmanager/image_pull_manager.go`
(`PullManager.MustAttemptImagePull`, `RecordImagePulled`), feature
`KubeletEnsureSecretPulledImages` (beta, on, in v1.36), policy
`NeverVerifyPreloadedImages`. Left out: the other policies, records on disk, service
accounts of credential providers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from lifecycle.cri.apis.image import AuthConfig
from lifecycle.kubelet.images.credentials import TrackedAuth

Secret = tuple[str, str, str]
NODES_OWN: Secret = ("", "", "")
WRITE_RECORD_WHILE_MATCHING_LIMIT = 100
"""Secrets of an image beyond which no more are written down by asking: namespaces may
come and go without end.
"""


def credential_hash(auth: AuthConfig) -> str:
    """What is kept of credentials."""
    return hashlib.sha256(
        "\0".join(
            (auth.username, auth.password, auth.auth, auth.identity_token)
        ).encode()
    ).hexdigest()


@dataclass(slots=True)
class _Record:
    node_pods_accessible: bool = False
    credentials: dict[Secret, str] = field(default_factory=dict)
    """The hash of what was in it, by secret."""


class PullRecords:
    """Records of one node."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, _Record]] = {}
        self._intents: dict[str, int] = {}

    def record_pull_intent(self, image: str) -> None:
        """A pull begins: should the kubelet die now, the image does not count as having
        been there before.
        """
        self._intents[image] = self._intents.get(image, 0) + 1

    def record_pull_failed(self, image: str) -> None:
        """It ended, without an image."""
        self._end_intent(image)

    def record_image_pulled(
        self, image: str, image_ref: str, used: TrackedAuth | None
    ) -> None:
        """It ended with one. `used`: the credentials that did it, None: none were
        needed. The node's own open it to all pods.
        """
        record = self._records.setdefault(image_ref, {}).setdefault(image, _Record())
        if used is None or used.secret == NODES_OWN:
            record.node_pods_accessible = True
        else:
            record.credentials[used.secret] = credential_hash(used.auth)
        self._end_intent(image)

    def must_attempt_image_pull(
        self, image: str, image_ref: str, credentials: Iterable[TrackedAuth]
    ) -> bool:
        """Whether a pod with these credentials has to ask the registry for an image
        that is here. `image` without tag.
        """
        if image_ref not in self._records:
            return image in self._intents
        record = self._records[image_ref].get(image)
        if record is None:
            return True
        if record.node_pods_accessible:
            return False
        known = record.credentials
        room = len(known) < WRITE_RECORD_WHILE_MATCHING_LIMIT
        for tracked in credentials:
            if tracked.secret == NODES_OWN:
                continue
            proof = credential_hash(tracked.auth)
            if proof in known.values() or (room and tracked.secret in known):
                if room:  # it is believed from now on, with what is in it now
                    known[tracked.secret] = proof
                return False
        return True

    def _end_intent(self, image: str) -> None:
        left = self._intents.get(image, 0) - 1
        if left > 0:
            self._intents[image] = left
        else:
            self._intents.pop(image, None)
