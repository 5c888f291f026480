"""What every plugin does first and last: read the environment and standard input, check
both, call the command, print JSON.

Upstream: `containernetworking/cni`, `pkg/skel/skel.go` (`dispatcher`),
`pkg/ns/ns_linux.go` (`CheckNetNS`), CNI v1.3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TextIO

from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.json.encode import marshal, marshal_indent
from lifecycle.cni import errors, results
from lifecycle.cni.errors import CNIError
from lifecycle.cni.naming import (
    validate_container_id,
    validate_interface_name,
    validate_network_name,
)
from lifecycle.cni.plugins.go_structs import STRING, Struct, misfit
from lifecycle.cni.versions import (
    ALL,
    greater_than_or_equal_to,
    incompatible,
    version_info,
)


@dataclass(slots=True)
class CmdArgs:
    """One call. `conf`: standard input, decoded; `stdin_data`: as it came, to be handed
    to an IPAM plugin.
    """

    container_id: str
    netns: str
    if_name: str
    args: str
    path: Sequence[str]
    netns_override: str
    stdin_data: str
    conf: dict[str, Any] = field(default_factory=dict)

    @property
    def cni_version(self) -> str:
        """The configuration's version; none means 0.1.0."""
        return self.conf.get("cniVersion") or "0.1.0"


Command = Callable[[CmdArgs], "results.Result | None"]
"""ADD returns a result, of any version; the others nothing. Raises CNIError."""

_REQUIRED = {
    "CNI_CONTAINERID": {"ADD", "CHECK", "DEL"},
    "CNI_NETNS": {"ADD", "CHECK"},
    "CNI_IFNAME": {"ADD", "CHECK", "DEL"},
    "CNI_ARGS": set(),
    "CNI_PATH": {"ADD", "CHECK", "DEL", "GC", "STATUS"},
    "CNI_NETNS_OVERRIDE": set(),
}
_VALIDATED = {
    "CNI_CONTAINERID": validate_container_id,
    "CNI_IFNAME": validate_interface_name,
}
_NAMED = Struct({"name": STRING}, 'struct { Name string "json:\\"name\\"" }')
_VERSIONED = Struct(
    {"cniVersion": STRING}, 'struct { CNIVersion string "json:\\"cniVersion\\"" }'
)
_SINCE = {"CHECK": "0.4.0", "GC": "1.1.0", "STATUS": "1.1.0"}


def cmd_args_from_env(
    env: Mapping[str, str], stdin: Callable[[], str]
) -> tuple[str, CmdArgs]:
    """The command and its arguments. Raises CNIError with upstream's code for whatever
    is missing.
    """
    command, missing = env.get("CNI_COMMAND", ""), []
    if not command:
        missing.append("CNI_COMMAND")
    for name, commands in _REQUIRED.items():
        if not env.get(name):
            missing += [name] if command in commands else []
        elif command in commands and name in _VALIDATED:
            _VALIDATED[name](env[name])
    if missing:
        raise CNIError(
            f"required env variables [{','.join(missing)}] missing",
            errors.INVALID_ENVIRONMENT_VARIABLES,
        )
    text = "" if command == "VERSION" else stdin()
    args = CmdArgs(
        env.get("CNI_CONTAINERID", ""),
        env.get("CNI_NETNS", ""),
        env.get("CNI_IFNAME", ""),
        env.get("CNI_ARGS", ""),
        [part for part in env.get("CNI_PATH", "").split(os.pathsep) if part],
        env.get("CNI_NETNS_OVERRIDE", ""),
        text,
    )
    if command != "VERSION":
        args.conf = _validated_config(text)
    return command, args


def dispatch(
    commands: Mapping[str, Command],
    env: Mapping[str, str],
    stdin: Callable[[], str],
    supported: Sequence[str] = ALL,
) -> str:
    """Run the command that the environment names; the text to print. Raises
    CNIError.
    """
    command, args = cmd_args_from_env(env, stdin)
    if command == "VERSION":
        return marshal(version_info(supported)) + "\n"
    if command not in ("ADD", "DEL", *_SINCE):
        raise CNIError(
            f"unknown CNI_COMMAND: {command}", errors.INVALID_ENVIRONMENT_VARIABLES
        )
    complaint = misfit(args.conf, _VERSIONED)
    if complaint:
        raise CNIError(
            f"decoding version from network config: {complaint}",
            errors.DECODING_FAILURE,
        )
    if command in _SINCE:
        if not _at_least(args.cni_version, _SINCE[command]):
            raise CNIError(
                f"config version does not allow {command}",
                errors.INCOMPATIBLE_CNI_VERSION,
            )
        if not any(_at_least(version, args.cni_version) for version in supported):
            raise CNIError(
                f"plugin version does not allow {command}",
                errors.INCOMPATIBLE_CNI_VERSION,
            )
    details = incompatible(args.cni_version, supported)
    if details:
        raise CNIError(
            "incompatible CNI versions", errors.INCOMPATIBLE_CNI_VERSION, details
        )
    result = commands[command](args) if command in commands else None
    if (
        command in ("ADD", "DEL")
        and args.netns_override.upper() != "TRUE"
        and args.netns_override != "1"
        and _is_own_netns(args.netns)
    ):
        same = "plugin's netns and netns from CNI_NETNS should not be the same"
        raise CNIError(same, errors.INVALID_NET_NS)
    return (
        results.marshal(results.convert(result, args.cni_version))
        if result is not None
        else ""
    )


def plugin_main(
    name: str,
    commands: Mapping[str, Command],
    env: Mapping[str, str] | None = None,
    out: TextIO | None = None,
) -> int:
    """A plugin's `main`: prints, and returns the exit code."""
    env, out = os.environ if env is None else env, out or sys.stdout
    if not env.get("CNI_COMMAND"):
        print(f"CNI {name} plugin of the executable book", file=sys.stderr)
        print(f"CNI protocol versions supported: {', '.join(ALL)}", file=sys.stderr)
        return 0
    try:
        out.write(dispatch(commands, env, sys.stdin.read))
        return 0
    except CNIError as error:
        complaint = error
    except OSError as error:
        complaint = CNIError(f"{(error.strerror or str(error)).lower()}")
    out.write(marshal_indent(complaint.as_json()))
    return 1


def prev_result(
    args: CmdArgs, complaint: str = "Required prevResult missing"
) -> results.Result:
    """The result so far, in the newest version. Raises CNIError if there is none."""
    result = parsed_prev_result(args)
    if result is None:
        raise CNIError(complaint)
    return results.convert(result, "1.1.0")


def parsed_prev_result(args: CmdArgs) -> results.Result | None:
    """The result so far, in the configuration's version. Raises CNIError. Upstream:
    `version.ParsePrevResult`.
    """
    raw = args.conf.get("prevResult")
    if raw is None:
        return None
    try:
        return results.create(args.cni_version, {"cniVersion": args.cni_version, **raw})
    except CNIError as error:
        raise error.wrapped("could not parse prevResult") from None


def load_args(text: str, fields: Sequence[str]) -> dict[str, str]:
    """CNI_ARGS: `K=V;K2=V2`. What is not known is refused, unless `IgnoreUnknown=1` is
    among it. Raises CNIError.
    """
    values: dict[str, str] = {}
    unknown = []
    for pair in text.split(";") if text else ():
        parts = pair.split("=")
        if len(parts) != 2:
            raise CNIError(f'ARGS: invalid pair "{pair}"')
        if parts[0] in (*fields, "IgnoreUnknown"):
            values[parts[0]] = parts[1]
        else:
            unknown.append(f'"{pair}"')
    ignore = values.pop("IgnoreUnknown", "0").lower()
    if ignore not in ("0", "1", "true", "false"):
        raise CNIError(
            f'ARGS: error parsing value of pair "IgnoreUnknown={ignore}": boolean'
            f" unmarshal error: invalid input {ignore}"
        )
    if unknown and ignore not in ("1", "true"):
        raise CNIError(f"ARGS: unknown args [{' '.join(unknown)}]")
    return values


def _at_least(version: str, other: str) -> bool:
    try:
        return greater_than_or_equal_to(version, other)
    except CNIError as error:
        raise CNIError(str(error), errors.DECODING_FAILURE) from None


def _validated_config(text: str) -> dict[str, Any]:
    try:
        conf = unmarshal(text)
        complaint = misfit(conf, _NAMED)
    except ValueError as error:
        conf, complaint = None, str(error)
    if complaint:
        raise CNIError(
            f"error unmarshall network config: {complaint}", errors.DECODING_FAILURE
        )
    if not conf or not conf.get("name"):
        raise CNIError("missing network name", errors.INVALID_NETWORK_CONFIG)
    validate_network_name(conf["name"])
    return dict(conf)


def _is_own_netns(path: str) -> bool:
    try:
        there, here = os.stat(path), os.stat("/proc/self/ns/net")
    except OSError:
        return False  # DEL of a namespace that is gone
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
