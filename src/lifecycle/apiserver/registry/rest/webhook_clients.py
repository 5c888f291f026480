"""How a webhook is reached, a URL or a service in the cluster, and in which versions it
is asked.

Admission webhooks and the conversion of custom resources have this in common.

Upstream: `SetDefaults_ServiceReference` of several `v1/defaults.go`,
`apiserver/pkg/util/webhook/validation.go` (`ValidateWebhookURL`,
`ValidateWebhookService`), `validateAdmissionReviewVersions`,
`validateConversionReviewVersions`, v1.36. Left out: what is wrong with a bundle of
certificates.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.url import go_url_problem
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.defaults import set_default

REVIEW_VERSIONS = ("v1", "v1beta1")
"""Of reviews, the preferred one first."""


def set_service_reference_defaults(config: Object | None) -> None:
    """The Service of a `clientConfig` or an APIService listens on port 443."""
    service = (config or {}).get("service")
    if service is not None:
        set_default(service, "port", 443)


def validate_webhook_client(config: Object, path: str) -> list[FieldError]:
    """A `clientConfig`: one way or the other."""
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        return [required(path, "exactly one of url or service is required")]
    if url is not None:
        return _url(url, f"{path}.url")
    assert service is not None
    return _service(service, f"{path}.service")


def validate_review_versions(
    versions: list[str], path: str, *, recognized: bool = True
) -> list[FieldError]:
    """The versions of a review that a webhook reads, one at least of which we write
    (`recognized`: unless nobody cared when it was stored).
    """
    errors: list[FieldError] = []
    for index, version in enumerate(versions):
        place = f"{path}[{index}]"
        if version in versions[:index]:
            errors.append(invalid(place, version, "duplicate version"))
        else:
            errors += [
                invalid(place, version, why) for why in content.dns1035_label(version)
            ]
    if recognized and not set(versions) & set(REVIEW_VERSIONS):
        why = f"must include at least one of {', '.join(REVIEW_VERSIONS)}"
        errors.append(invalid(path, versions, why))
    return errors


def _service(service: Object, path: str) -> list[FieldError]:
    """Upstream: `ValidateWebhookService`, whose callers all hand over the name for the
    namespace: where one of them is missing, the other is asked for.
    """
    errors = [
        required(f"{path}.{asked_for}")
        for asked_for, key in (("name", "namespace"), ("namespace", "name"))
        if not service.get(key)
    ]
    port = service.get("port", 443)
    if messages := content.port_number(port):
        errors.append(
            invalid(f"{path}.port", port, f"port is not valid: {', '.join(messages)}")
        )
    where = service.get("path")
    if where in (None, "", "/"):
        return errors
    here = f"{path}.path"
    if where == "//":
        return [*errors, invalid(here, where, "segment[0] may not be empty")]
    if not where.startswith("/"):
        errors.append(invalid(here, where, "must start with a '/'"))
    for index, step in enumerate(where[1:].removesuffix("/").split("/")):
        if not step:
            errors.append(invalid(here, where, f"segment[{index}] may not be empty"))
        else:
            errors += [
                invalid(here, where, f"segment[{index}]: {why}")
                for why in content.dns1123_subdomain(step)
            ]
    return errors


def _url(url: str, path: str) -> list[FieldError]:
    """Upstream: `ValidateWebhookURL`."""
    form = "; desired format: https://host[/path]"
    if problem := go_url_problem(url):
        why = f"url must be a valid URL: parse {go_quote(url)}: {problem}{form}"
        return [required(path, why)]
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [required(path, f"url must be a valid URL: {error}{form}")]
    errors: list[FieldError] = []
    if parts.scheme != "https":
        errors.append(
            invalid(path, parts.scheme, f"'https' is the only allowed URL scheme{form}")
        )
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.append(invalid(path, host, f"host must be specified{form}"))
    if at:
        errors.append(
            invalid(path, user, "user information is not permitted in the URL")
        )
    if parts.fragment:
        errors.append(
            invalid(path, parts.fragment, "fragments are not permitted in the URL")
        )
    if parts.query:
        errors.append(
            invalid(path, parts.query, "query parameters are not permitted in the URL")
        )
    return errors
