"""`kubectl explain TYPE[.FIELD…]`: what the server's OpenAPI document says of a type.

Upstream: `kubectl/pkg/cmd/explain/explain.go` (`ExplainOptions.Run`),
`kubectl/pkg/explain/explain.go` (`SplitAndParseResourceRequestWithMatchingPrefix`),
`explain/v2/explain.go` (`PrintModelDescription`), v1.36.2. Left out: the older form
`plaintext-openapiv2`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api import fast_json
from lifecycle.api.resources import Resource
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import flag, parse
from lifecycle.kubectl.printing import jsonpath_parser
from lifecycle.kubectl.printing.explaining import explained
from lifecycle.kubectl.session import Session

FLAGS = (
    flag("recursive", "bool", short="R"),
    flag("api-version"),
    flag("output", default="plaintext", short="o"),
)


async def explain(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl explain ARGV`."""
    p = parse(argv, FLAGS, "explain")
    if not p.args:
        raise CommandError(
            'You must specify the type of resource to explain. Use "kubectl'
            ' api-resources" for a complete list of supported resources.\n'
        )
    if len(p.args) > 1:
        raise CommandError("We accept only this format: explain RESOURCE\n")
    if not p.args[0]:
        raise CommandError("a resource must be present, got: /, Resource=")
    names = _names(_steps(p.args[0]))
    resource, fields = _chosen(p.args[0], names, await session.resources_for(names[0]))
    if p["output"] == "plaintext-openapiv2":
        raise CommandError(
            "-o plaintext-openapiv2 is not built into this kubectl; -o plaintext is"
        )
    group, version = resource.group, resource.version
    if p["api-version"]:
        fields = names[1:]
        group, _, version = p["api-version"].rpartition("/")
    path = f"apis/{group}/{version}" if group else f"api/{version}"
    paths = fast_json.loads(await session.raw("GET", "/openapi/v3"))["paths"]
    if path not in paths:
        raise CommandError(
            f"couldn't find resource for \"{group}/{version},"
            f' Resource={resource.plural}"'
        )
    document = fast_json.loads(
        await session.raw("GET", paths[path]["serverRelativeURL"])
    )
    if p["output"] != "plaintext":
        raise CommandError(f"unrecognized format: {p['output']}")
    session.print(
        explained(
            document, group, version, resource.plural, fields, deep=p["recursive"]
        )
    )


def _steps(text: str) -> list[object]:
    """What a path is made of. Raises CommandError."""
    try:
        [action] = jsonpath_parser.parse("{." + text.removesuffix(".") + "}")
    except ValueError as error:
        raise CommandError(str(error)) from None
    return list(action.steps)


def _names(steps: Sequence[object]) -> list[str]:
    """The names of fields. Raises CommandError for steps that are none."""
    names = [step.name for step in steps if isinstance(step, jsonpath_parser.Field)]
    if len(names) < len(steps):
        raise CommandError("invalid jsonpath syntax, first node must be field node")
    return names


def _chosen(
    text: str, names: Sequence[str], resources: Sequence[Resource]
) -> tuple[Resource, list[str]]:
    """The resource meant, its group perhaps written out, and the fields after it."""
    for resource in resources:
        whole = (
            f"{resource.plural}.{resource.group}" if resource.group else resource.plural
        )
        if text.startswith(whole):
            rest = text[len(whole) :]
            return resource, (
                _names(_steps(rest)[1:]) if rest else []
            )  # the first step is the dot before them
    return resources[0], list(names[1:])
