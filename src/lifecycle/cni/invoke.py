"""Running a plugin: find the file, give it an environment and a JSON document on
standard input, read JSON from standard output.

A plugin's exit code only says *whether* it failed; why stands on standard output, as
JSON. `host_netns` runs the plugin in another network namespace than ours: the namespace
of the "host" whose pod is set up. That is how several nodes live on one machine in this
book.

Upstream: `containernetworking/cni`, `pkg/invoke` (`RawExec.ExecPlugin`, `FindInPath`,
`Args.AsEnv`, `fixupResultVersion`), CNI v1.3. Left out: OpenTelemetry's trace context
in the environment, the retry when a plugin's file is just being written.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal, unmarshal_object
from lifecycle.cni import results
from lifecycle.cni.errors import UNKNOWN, CNIError
from lifecycle.cni.plugins.go_structs import STRING, Scalar, Struct, misfit
from lifecycle.cni.versions import CURRENT, decode_version_info


@dataclass(slots=True, frozen=True)
class Args:
    """What a plugin is told besides its configuration. `plugin_args`: pairs for
    CNI_ARGS.
    """

    command: str
    container_id: str = ""
    netns: str = ""
    if_name: str = ""
    plugin_args: Sequence[tuple[str, str]] = ()
    path: Sequence[str] = ()

    def as_env(self, inherited: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment: ours, and six variables."""
        return {
            **(os.environ if inherited is None else inherited),
            "CNI_COMMAND": self.command,
            "CNI_CONTAINERID": self.container_id,
            "CNI_NETNS": self.netns,
            "CNI_ARGS": ";".join(f"{key}={value}" for key, value in self.plugin_args),
            "CNI_IFNAME": self.if_name,
            "CNI_PATH": os.pathsep.join(self.path),
        }


def find_in_path(plugin: str, paths: Sequence[str]) -> str:
    """The plugin's executable: the first regular file of that name. Raises CNIError."""
    if not plugin:
        raise CNIError("no plugin name provided")
    if os.sep in plugin:
        raise CNIError(f"invalid plugin name: {plugin}")
    if not paths:
        raise CNIError("no paths provided")
    for path in paths:
        candidate = os.path.join(path, plugin)
        if os.path.isfile(candidate):
            return candidate
    raise CNIError(
        f"failed to find plugin {go_quote(plugin)} in path [{' '.join(paths)}]"
    )


def plugin_err(stdout: bytes, stderr: bytes, code: int) -> CNIError:
    """What a plugin's failure means. Without any output there is no code but 0."""
    status = f"exit status {code}" if code >= 0 else f"signal: {-code}"
    if not stdout:
        if not stderr:
            return CNIError(
                f"netplugin failed with no error message: {status}", UNKNOWN
            )
        return CNIError(
            f"netplugin failed: {go_quote(stderr.decode(errors='replace'))}: {status}",
            UNKNOWN,
        )
    try:
        error = unmarshal(stdout)
        if complaint := misfit(error, _ERROR):
            raise ValueError(complaint)
    except ValueError as why:
        text = go_quote(stdout.decode(errors="replace"))
        return CNIError(
            f"netplugin failed but error parsing its diagnostic message {text}: {why}",
            UNKNOWN,
        )
    error = error or {}
    return CNIError(
        error.get("msg") or "", error.get("code") or 0, error.get("details") or ""
    )


_ERROR = Struct(
    {"code": Scalar("number", "uint"), "msg": STRING, "details": STRING}, "types.Error"
)


def exec_plugin_now(
    plugin_path: str, stdin: str, env: Mapping[str, str], host_netns: str = ""
) -> bytes:
    """Run and wait. Raises CNIError. (Plugins themselves use this to run their IPAM
    plugin.)
    """
    started: list[subprocess.Popen[bytes]] = []
    return _run(plugin_path, stdin, env, host_netns, started)


async def exec_plugin(
    plugin_path: str, stdin: str, env: Mapping[str, str], host_netns: str = ""
) -> bytes:
    """Run a plugin without blocking the loop; one that is cancelled is killed. Raises
    CNIError.
    """
    import asyncio  # plugins load this module, too, and need no loop

    started: list[subprocess.Popen[bytes]] = []
    try:
        return await asyncio.to_thread(
            _run, plugin_path, stdin, env, host_netns, started
        )
    except asyncio.CancelledError:
        for process in started:
            process.kill()
        raise


def _run(
    plugin_path: str,
    stdin: str,
    env: Mapping[str, str],
    host_netns: str,
    started: list[subprocess.Popen[bytes]],
) -> bytes:
    pipe = subprocess.PIPE
    try:
        if host_netns:
            # a child begins in the namespace of the thread that forks it
            from lifecycle.cni.namespaces import with_net_ns_path

            with with_net_ns_path(host_netns):
                process = subprocess.Popen(
                    [plugin_path], stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env)
                )
        else:
            process = subprocess.Popen(
                [plugin_path], stdin=pipe, stdout=pipe, stderr=pipe, env=dict(env)
            )
    except OSError as error:
        what = f"fork/exec {plugin_path}: {(error.strerror or '').lower()}"
        raise CNIError(
            f"netplugin failed with no error message: {what}", UNKNOWN
        ) from None
    started.append(process)
    stdout, stderr = process.communicate(stdin.encode())
    if process.returncode:
        raise plugin_err(stdout, stderr, process.returncode)
    return stdout


def decode_result(netconf: str, stdout: bytes) -> results.Result:
    """The result that a plugin printed. One without a version is taken to have the
    configuration's. Raises CNIError.
    """
    version = unmarshal_object(netconf).get("cniVersion") or "0.1.0"
    try:
        raw = unmarshal_object(stdout)
    except ValueError as error:
        raise CNIError(f"failed to unmarshal raw result: {error}") from None
    given = raw.get("cniVersion")
    version = given if isinstance(given, str) and given else version
    return results.create(version, {**raw, "cniVersion": version})


async def get_version_info(plugin_path: str) -> list[str]:
    """Ask a plugin which versions it supports. Raises CNIError."""
    args = Args("VERSION", netns="dummy", if_name="dummy", path=("dummy",))
    try:
        return decode_version_info(
            await exec_plugin(
                plugin_path, f'{{"cniVersion":"{CURRENT}"}}', args.as_env()
            )
        )
    except CNIError as error:
        if (
            str(error) == "unknown CNI_COMMAND: VERSION"
        ):  # written before the command was invented
            return ["0.1.0"]
        raise
