"""libcni: what a container runtime calls to attach a container to a network, or to
detach it.

A network is a list of plugins. ADD runs them in order; each gets, besides its own
configuration, the network's name and version and the result so far (`prevResult`). DEL
runs them in reverse. Between the two, the result waits in a file.

Upstream: `containernetworking/cni`, `libcni/api.go` (`CNIConfig`), CNI v1.3, which
containerd 2 uses through `go-cni`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.cni import results
from lifecycle.cni.config import NetworkConfigList, PluginConfig, inject_conf
from lifecycle.cni.errors import CNIError
from lifecycle.cni.invoke import (
    Args,
    decode_result,
    exec_plugin,
    find_in_path,
    get_version_info,
)
from lifecycle.cni.naming import (
    validate_container_id,
    validate_interface_name,
    validate_network_name,
)
from lifecycle.cni.result_cache import (
    DEFAULT_CACHE_DIR,
    NetworkAttachment,
    ResultCache,
    RuntimeConf,
)
from lifecycle.cni.versions import greater_than_or_equal_to

Observer = Callable[[str, PluginConfig, Args], None]
"""Told of each plugin before it runs: its path, the configuration it will read, its
environment.
"""


def build_one_config(
    name: str,
    version: str,
    plugin: PluginConfig,
    prev_result: results.Result | None,
    rt: RuntimeConf | None,
) -> PluginConfig:
    """What one plugin is piped: its own configuration, and what only libcni knows.
    Raises CNIError.
    """
    inject: dict[str, Any] = {"name": name, "cniVersion": version}
    if prev_result is not None:
        inject["prevResult"] = prev_result
    if rt is not None:
        capabilities = plugin.capabilities
        runtime_config = {
            key: rt.capability_args[key]
            for key in capabilities
            if key in rt.capability_args
        }
        if runtime_config:
            inject["runtimeConfig"] = runtime_config
    return inject_conf(plugin, inject)


class CNIConfig:
    """Plugins from `path`, results kept under `cache_dir`. `host_netns`: where the
    plugins run, if not in our own namespace.
    """

    def __init__(
        self,
        path: Sequence[str | Path],
        cache_dir: str | Path = DEFAULT_CACHE_DIR,
        *,
        host_netns: str = "",
        observer: Observer | None = None,
    ) -> None:
        self.path = [str(directory) for directory in path]
        self.cache = ResultCache(cache_dir)
        self._host_netns = host_netns
        self._observer = observer

    async def add_network_list(
        self, network: NetworkConfigList, rt: RuntimeConf
    ) -> results.Result:
        """ADD through all plugins; the last one's result. Raises CNIError. What earlier
        plugins did stays: the runtime must DEL.
        """
        result: results.Result | None = None
        for plugin in network.plugins:
            try:
                path = find_in_path(plugin.type, self.path)
                validate_container_id(rt.container_id)
                validate_network_name(network.name)
                validate_interface_name(rt.if_name)
                conf = build_one_config(
                    network.name, network.cni_version, plugin, result, rt
                )
                result = decode_result(
                    conf.text, await self._exec(path, conf, "ADD", rt)
                )
            except CNIError as error:
                raise error.wrapped(
                    f"plugin {_described(plugin)} failed (add)"
                ) from None
        if result is None:
            raise CNIError("no plugin configs found")
        try:
            self.cache.add(result, network.text, network.name, rt)
        except OSError as error:
            raise CNIError(
                f"failed to set network {go_quote(network.name)} cached result: {error}"
            ) from None
        return result

    async def check_network_list(
        self, network: NetworkConfigList, rt: RuntimeConf
    ) -> None:
        """CHECK: is what ADD made still there? Raises CNIError; also if the
        configuration is older than the command (0.4.0).
        """
        if not greater_than_or_equal_to(network.cni_version, "0.4.0"):
            raise CNIError(
                f"configuration version {go_quote(network.cni_version)} does not"
                " support the CHECK command"
            )
        if network.disable_check:
            return
        try:
            result = self.cache.result(network.name, network.cni_version, rt)
        except CNIError as error:
            raise error.wrapped(
                f"failed to get network {go_quote(network.name)} cached result"
            ) from None
        for plugin in network.plugins:
            await self._without_result(network, plugin, "CHECK", result, rt)

    async def del_network_list(
        self, network: NetworkConfigList, rt: RuntimeConf
    ) -> None:
        """DEL through all plugins, last one first. May be called again and again.
        Raises CNIError.
        """
        result = None
        if greater_than_or_equal_to(
            network.cni_version, "0.4.0"
        ):  # before, plugins did not expect one
            try:
                result = self.cache.result(network.name, network.cni_version, rt)
            except CNIError:
                self.cache.delete(network.name, rt)
        for plugin in reversed(network.plugins):
            try:
                await self._without_result(network, plugin, "DEL", result, rt)
            except CNIError as error:
                raise error.wrapped(
                    f"plugin {_described(plugin)} failed (delete)"
                ) from None
        self.cache.delete(network.name, rt)

    async def gc_network_list(
        self, network: NetworkConfigList, valid: Iterable[tuple[str, str]]
    ) -> None:
        """Remove every attachment but the `valid` ones (container ID, interface); from
        1.1.0 on plugins clean up, too. Raises CNIError.
        """
        if network.disable_gc:
            return
        kept = set(valid)
        complaints = []
        for attachment in list(self.cache.attachments()):
            rt = attachment.runtime
            if (
                attachment.network != network.name
                or (rt.container_id, rt.if_name) in kept
            ):
                continue
            try:
                await self.del_network_list(network, rt)
            except CNIError as error:
                complaints.append(
                    f"failed to delete stale attachment {rt.container_id} {rt.if_name}:"
                    f" {error}"
                )
        if greater_than_or_equal_to(network.cni_version, "1.1.0"):
            attachments = [
                {"containerID": container, "ifname": interface}
                for container, interface in sorted(kept)
            ]
            # the second key is a slip in the first text of the specification, kept for
            # those who followed it
            extra = {
                "cni.dev/valid-attachments": attachments,
                "cni.dev/attachments": attachments,
            }
            for plugin in network.plugins:
                try:
                    await self._bare(network, plugin, "GC", extra)
                except CNIError as error:
                    complaints.append(f"failed to GC plugin {plugin.type}: {error}")
        if complaints:
            raise CNIError("\n".join(complaints))

    async def get_status_network_list(self, network: NetworkConfigList) -> None:
        """STATUS: could an ADD succeed? Raises the first plugin's CNIError with its
        code. Older configurations cannot ask.
        """
        if not greater_than_or_equal_to(network.cni_version, "1.1.0"):
            return
        for plugin in network.plugins:
            await self._bare(network, plugin, "STATUS", {})

    async def validate_network_list(self, network: NetworkConfigList) -> list[str]:
        """All capabilities the plugins ask for. Raises CNIError if one is missing or
        does not speak the version.
        """
        complaints, capabilities = (
            [],
            dict.fromkeys(c for plugin in network.plugins for c in plugin.capabilities),
        )
        for plugin in network.plugins:
            try:
                version = network.cni_version or "0.1.0"
                if version not in await get_version_info(
                    find_in_path(plugin.type, self.path)
                ):
                    raise CNIError(
                        f"plugin {plugin.type} does not support config version"
                        f" {go_quote(version)}"
                    )
            except CNIError as error:
                complaints.append(str(error))
        if complaints:
            raise CNIError(f"[{' '.join(complaints)}]")
        return list(capabilities)

    def cached_attachments(self, container_id: str = "") -> list[NetworkAttachment]:
        """What is attached, according to the cache."""
        return list(self.cache.attachments(container_id))

    async def _without_result(
        self,
        network: NetworkConfigList,
        plugin: PluginConfig,
        command: str,
        prev: results.Result | None,
        rt: RuntimeConf,
    ) -> None:
        path = find_in_path(plugin.type, self.path)
        await self._exec(
            path,
            build_one_config(network.name, network.cni_version, plugin, prev, rt),
            command,
            rt,
        )

    async def _bare(
        self,
        network: NetworkConfigList,
        plugin: PluginConfig,
        command: str,
        extra: Mapping[str, Any],
    ) -> None:
        conf = inject_conf(
            plugin, {"name": network.name, "cniVersion": network.cni_version, **extra}
        )
        await self._exec(
            find_in_path(plugin.type, self.path), conf, command, RuntimeConf("", "", "")
        )

    async def _exec(
        self, path: str, conf: PluginConfig, command: str, rt: RuntimeConf
    ) -> bytes:
        args = Args(command, rt.container_id, rt.netns, rt.if_name, rt.args, self.path)
        if self._observer is not None:
            self._observer(path, conf, args)
        return await exec_plugin(path, conf.text, args.as_env(), self._host_netns)


def _described(plugin: PluginConfig) -> str:
    name = f" name={go_quote(plugin.name)}" if plugin.name else ""
    return f"type={go_quote(plugin.type)}{name}"
