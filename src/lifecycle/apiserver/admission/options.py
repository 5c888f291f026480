"""Which plugins run: those that are on by default, more on request, fewer on request.

Upstream: `pkg/kubeapiserver/options/admission.go` (`--enable-admission-plugins`,
`--disable-admission-plugins`), `plugins.go` (`RegisterAllAdmissionPlugins`), v1.36.
Left out: `--admission-control-config-file`; what would be in it is a field here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.api.clock import Clock
from lifecycle.apiserver.admission.always_pull_images import AlwaysPullImages
from lifecycle.apiserver.admission.chain import ALL_ORDERED_PLUGINS, Plugin
from lifecycle.apiserver.admission.image_policy_webhook import (
    ImagePolicy,
    ImagePolicyWebhook,
)

INITIALIZERS = "Initializers"
"""A feature gate of 1.7 to 1.13."""


@dataclass(slots=True, frozen=True)
class AdmissionOptions:
    """`enable` and `disable` name plugins. `image_policy` is what ImagePolicyWebhook
    needs. `feature_gates` knows `Initializers`.

    Raises ValueError for names that nobody has, and for a plugin that lacks its
    configuration.
    """

    enable: Sequence[str] = ()
    disable: Sequence[str] = ()
    image_policy: ImagePolicy | None = None
    feature_gates: Sequence[str] = ()

    def __post_init__(self) -> None:
        for flag, names in (("enable", self.enable), ("disable", self.disable)):
            for name in names:
                if name not in ALL_ORDERED_PLUGINS:
                    raise ValueError(
                        f'{flag}-admission-plugins plugin "{name}" is unknown'
                    )
        both = sorted(set(self.enable) & set(self.disable))
        if both:
            raise ValueError(
                f"[{' '.join(both)}] in enable-admission-plugins and"
                " disable-admission-plugins overlapped"
            )
        if "ImagePolicyWebhook" in self.enable and self.image_policy is None:
            raise ValueError(
                "failed to initialize admission: couldn't init admission plugin"
                ' "ImagePolicyWebhook": no config specified'
            )
        for gate in self.feature_gates:
            if gate != INITIALIZERS:
                raise ValueError(f"unrecognized feature gate: {gate}")

    @property
    def initializers(self) -> bool:
        """Whether objects are initialized after they have been stored."""
        return INITIALIZERS in self.feature_gates

    def chosen(self, defaults: Sequence[Plugin], clock: Clock) -> list[Plugin]:
        """The plugins that run."""
        more: list[Plugin] = []
        if "AlwaysPullImages" in self.enable:
            more.append(AlwaysPullImages())
        if "ImagePolicyWebhook" in self.enable and self.image_policy is not None:
            more.append(ImagePolicyWebhook(self.image_policy, clock))
        return [
            *(plugin for plugin in defaults if plugin.name not in self.disable),
            *more,
        ]
