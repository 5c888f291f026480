"""Which plugins run: those that are on by default, more on request, fewer on request,
and what somebody else has registered.

Upstream: `pkg/kubeapiserver/options/admission.go` (`--enable-admission-plugins`,
`--disable-admission-plugins`), `plugins.go` (`RegisterAllAdmissionPlugins`),
`apiserver/pkg/admission/plugins.go` (`Plugins.Register`), v1.36. Left out:
`--admission-control-config-file`; what would be in it is a field here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.admission.always_pull_images import AlwaysPullImages
from lifecycle.apiserver.admission.chain import ALL_ORDERED_PLUGINS, Plugin
from lifecycle.apiserver.admission.image_policy_webhook import (
    ImagePolicy,
    ImagePolicyWebhook,
)
from lifecycle.apiserver.authz.authorizer import Authorize

Factory = Callable[[Authorize], Plugin]
"""Makes a plugin that may ask who may do what."""


@dataclass(slots=True, frozen=True)
class AdmissionOptions:
    """`enable` and `disable` name plugins. `image_policy` is what ImagePolicyWebhook
    needs. `registered` are plugins that are not in the tree, by name; they run last,
    and only if `enable` names them.

    Raises ValueError for names that nobody has or that two have, and for a plugin that
    lacks its configuration.
    """

    enable: Sequence[str] = ()
    disable: Sequence[str] = ()
    image_policy: ImagePolicy | None = None
    registered: Mapping[str, Factory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.registered:
            if name in ALL_ORDERED_PLUGINS:
                raise ValueError(f'admission plugin "{name}" was registered twice')
        for flag, names in (("enable", self.enable), ("disable", self.disable)):
            for name in names:
                if name not in ALL_ORDERED_PLUGINS and name not in self.registered:
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

    def chosen(
        self, defaults: Sequence[Plugin], clock: Clock, authorize: Authorize
    ) -> list[Plugin]:
        """The plugins that run."""
        more: list[Plugin] = []
        if "AlwaysPullImages" in self.enable:
            more.append(AlwaysPullImages())
        if "ImagePolicyWebhook" in self.enable and self.image_policy is not None:
            more.append(ImagePolicyWebhook(self.image_policy, clock))
        return [
            *(plugin for plugin in defaults if plugin.name not in self.disable),
            *more,
            *(
                make(authorize)
                for name, make in self.registered.items()
                if name in self.enable
            ),
        ]
