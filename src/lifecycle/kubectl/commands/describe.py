"""`kubectl describe`: objects in words; if there is none of that name, all whose names
begin like it.

Upstream: `kubectl/pkg/cmd/describe/describe.go` (`DescribeOptions.Run`,
`DescribeMatchingResources`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.status import StatusError
from lifecycle.kubectl.describe.clientset import Clientset, DescriberSettings
from lifecycle.kubectl.describe.describers import describe_object
from lifecycle.kubectl.failures import CommandError, message_for, several
from lifecycle.kubectl.flags import ALL_NAMESPACES, SELECTOR, Parsed, flag, parse
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, Info, visit

FLAGS = (
    *FILES,
    SELECTOR,
    ALL_NAMESPACES,
    flag("show-events", "bool", True),
    flag("chunk-size", "int64", 500),
)


async def describe(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl describe ARGV`."""
    p = parse(argv, FLAGS, "describe")
    if not p.args and not p["filename"] and not p["kustomize"]:
        raise CommandError(
            'You must specify the type of resource to describe. Use "kubectl'
            ' api-resources" for a complete list of supported resources.\n'
        )
    infos: list[Info] = []
    errs: list[CommandError | StatusError] = []
    async for each in visit(session, p, p.args, latest=False, every=True):
        if isinstance(each, Info):
            infos.append(each)
        else:
            errs.append(each)
    show_events = p["show-events"]
    if (errs or len(infos) > 1) and "show-events" not in p.changed:
        show_events = False  # enough is said already
    settings = DescriberSettings(show_events, p["chunk-size"])
    client = Clientset(session, settings)
    if len(errs) == 1 and len(p.args) == 2 and _not_found(errs[0]):
        await _describe_matching_resources(p, errs[0], client, session)
        return
    refused = await _describe_each(infos, client, session)
    if len(errs) > 1 and refused:  # those from before are one among others then
        errs = [_aggregate(errs)]
    if errs or refused:
        raise several([*errs, *refused])
    if not infos:
        where = "" if p["all-namespaces"] else f" in {session.namespace} namespace."
        session.warn(f"No resources found{where}\n")


def _not_found(error: CommandError | StatusError) -> bool:
    return isinstance(error, StatusError) and error.reason == "NotFound"


def _aggregate(errs: Sequence[CommandError | StatusError]) -> CommandError:
    """Several errors as one, in brackets. Upstream: `utilerrors.aggregate.Error`."""
    messages = [
        error.message if isinstance(error, StatusError) else str(error)
        for error in errs
    ]
    return CommandError(f"[{', '.join(dict.fromkeys(messages))}]")


async def _describe_each(
    infos: Sequence[Info], client: Clientset, session: Session
) -> list[CommandError | StatusError]:
    """Print the descriptions; why something could not be described, each reason
    once.
    """
    between = ""
    refused: dict[str, CommandError | StatusError] = {}
    for info in infos:
        try:
            text = await describe_object(
                client, info.resource, info.namespace, info.name
            )
        except (CommandError, StatusError) as error:
            refused.setdefault(message_for(error), error)
            continue
        session.print(between + text)
        between = "\n\n"
    return list(refused.values())


async def _describe_matching_resources(
    p: Parsed,
    original_error: CommandError | StatusError,
    client: Clientset,
    session: Session,
) -> None:
    """Describe what begins like the name that was not there. Raises the original error
    if nothing does.
    """
    typed, prefix = p.args
    if "/" in typed:  # each names an object of its own
        raise original_error
    if len(await session.targets([typed])) > 1:
        raise CommandError("you may only specify a single resource type")
    matching = Parsed({"chunk-size": p["chunk-size"]})
    is_found = False
    async for each in visit(session, matching, [typed], every=True):
        if not isinstance(each, Info):
            raise each
        if each.name.startswith(prefix):
            is_found = True
            text = await describe_object(
                client, each.resource, each.namespace, each.name
            )
            session.print(f"{text}\n")
    if not is_found:
        raise original_error
