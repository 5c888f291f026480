"""Which audiences a kubelet may ask tokens for: those that the token's pod needs.

A token is worth something only to the audience it names. Without this check a node
that has been taken over could get, for every account that runs on it, a token for any
service outside. So the audience must stand in the pod: in a projected volume, or in
the CSI driver of one of its volumes. What else a node needs it is given by a role with
the verb `request-serviceaccounts-token-audience` on the audience as the resource.

Upstream: `plugin/pkg/admission/noderestriction/admission.go`
(`validateNodeServiceAccountAudience`, `podReferencesAudience`), feature
`ServiceAccountNodeAudienceRestriction`, v1.36. Left out: volumes of in-tree drivers,
which upstream takes for volumes of the CSI drivers that have replaced them.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, RequestInfo
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.cel.authorizer import Ask
from lifecycle.apiserver.storage.object_reader import ObjectReader

VERB = "request-serviceaccounts-token-audience"


class NodeAudiences:
    """Looks through the pods' volumes. `authorize` None: no role can help."""

    def __init__(self, reader: ObjectReader, authorize: Ask | None) -> None:
        self._reader, self._authorize = reader, authorize
        self._claims = resource("persistentvolumeclaims")
        self._volumes = resource("persistentvolumes")
        self._drivers = resource("csidrivers.storage.k8s.io")

    def validate(self, attributes: Attributes, pod: Object) -> None:
        """Refuse a TokenRequest for an audience that is not the pod's.

        Raises StatusError 403.
        """
        spec = (attributes.obj or {}).get("spec") or {}
        audiences = spec.get("audiences") or [""]
        if len(audiences) > 1:
            raise attributes.forbidden("node may only request 0 or 1 audiences")
        audience = audiences[0]
        try:
            if self._pod_references(pod, audience):
                return
        except LookupError as error:
            message = f"error validating audience {go_quote(audience)}: {error.args[0]}"
            raise attributes.forbidden(message) from None
        assert attributes.user is not None
        question = RequestInfo(
            is_resource_request=True,
            path="",
            verb=VERB,
            version="v1",
            resource=audience,
            namespace=attributes.namespace,
            name=attributes.name,
        )
        authorize = self._authorize
        if authorize is not None and authorize(attributes.user, question).allowed:
            return
        raise attributes.forbidden(
            f"audience {go_quote(audience)} not found in pod spec volume, "
            f"{attributes.user.name} is not authorized to request tokens for this "
            "audience"
        )

    def _pod_references(self, pod: Object, audience: str) -> bool:
        """Whether a volume needs the audience.

        Raises LookupError if none does and something on the way is missing.
        """
        missing: list[str] = []
        for volume in pod["spec"].get("volumes") or ():
            for source in (volume.get("projected") or {}).get("sources") or ():
                token = source.get("serviceAccountToken")
                if token is not None and token.get("audience", "") == audience:
                    return True
            try:
                if self._driver_references(self._driver(pod, volume), audience):
                    return True
            except LookupError as error:
                missing.append(error.args[0])
        if missing:
            unique = list(dict.fromkeys(missing))
            message = ", ".join(unique)
            raise LookupError(f"[{message}]" if len(unique) > 1 else message)
        return False

    def _driver(self, pod: Object, volume: Object) -> str:
        """The CSI driver of a pod's volume, directly or by its claim; "" if none."""
        if volume.get("csi"):
            return str(volume["csi"].get("driver", ""))
        if volume.get("ephemeral"):
            claim_name = f"{pod['metadata']['name']}-{volume['name']}"
        elif volume.get("persistentVolumeClaim"):
            claim_name = volume["persistentVolumeClaim"].get("claimName", "")
        else:
            return ""
        namespace = pod["metadata"].get("namespace", "")
        claim = self._reader.get(self._claims, namespace, claim_name)
        if claim is None:
            raise LookupError(f"persistentvolumeclaim {go_quote(claim_name)} not found")
        volume_name = claim["spec"].get("volumeName", "")
        persistent = self._reader.get(self._volumes, "", volume_name)
        if persistent is None:
            raise LookupError(f"persistentvolume {go_quote(volume_name)} not found")
        return str((persistent["spec"].get("csi") or {}).get("driver", ""))

    def _driver_references(self, name: str, audience: str) -> bool:
        if not name:
            return False
        driver = self._reader.get(self._drivers, "", name)
        if driver is None:
            message = f"csidriver.storage.k8s.io {go_quote(name)} not found"
            raise LookupError(message)
        requests = driver["spec"].get("tokenRequests") or ()
        return any(each.get("audience", "") == audience for each in requests)
