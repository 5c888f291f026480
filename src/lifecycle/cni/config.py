"""Network configurations: a list of plugins under one name, read from files, in the
order that upstream reads them.

Two readers exist. `load_network_conf` looks a network up by name (`cnitool` does):
every `.conflist` first, in order of file names, then every `.conf` and `.json`, which
hold one plugin and become a list of one. `first_network` is what containerd does: all
three endings in one order, and the first file counts. If that one is broken, there is
no network. (CRI-O, and the kubelet of 1.20, pass it over.)

Upstream: `containernetworking/cni`, `libcni/conf.go`, CNI v1.3; `containerd/go-cni`,
`opts.go` (`loadFromConfDir`), used by containerd 2.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.api.go.format import go_json_type
from lifecycle.api.go.json.decode import unmarshal_object
from lifecycle.api.go.json.encode import marshal
from lifecycle.cni.errors import CNIError
from lifecycle.cni.versions import CURRENT, greater_than, parse_version

DEFAULT_CONF_DIR = "/etc/cni/net.d"
"""Where containerd looks (`conf_dir`); the kubelet of 1.20 had the same default for
`--cni-conf-dir`.
"""


@dataclass(slots=True, frozen=True)
class PluginConfig:
    """One plugin of a network: `network` decoded, `text` as it will be piped in."""

    network: Mapping[str, Any]
    text: str

    @property
    def type(self) -> str:
        """Also the file name of the executable."""
        return str(self.network["type"])

    @property
    def name(self) -> str:
        """The network's name, if the plugin's own configuration has it."""
        return str(self.network.get("name", ""))

    @property
    def capabilities(self) -> list[str]:
        """What the runtime may put into `runtimeConfig`."""
        return [
            name
            for name, enabled in (self.network.get("capabilities") or {}).items()
            if enabled
        ]


@dataclass(slots=True, frozen=True)
class NetworkConfigList:
    """A network: its plugins run one after the other. `text` is the file's."""

    name: str
    cni_version: str
    plugins: Sequence[PluginConfig]
    text: str
    disable_check: bool = False
    disable_gc: bool = False
    load_only_inlined_plugins: bool = field(default=False)


def plugin_conf_from(text: str) -> PluginConfig:
    """One plugin. Raises CNIError."""
    network = _decoded(text, "error parsing configuration")
    if not network.get("type"):
        raise CNIError("error parsing configuration: missing 'type'")
    return PluginConfig(network, text)


def network_conf_from(text: str) -> NetworkConfigList:
    """A list of plugins. Raises CNIError. (With no key `plugins` at all the list is
    empty: its plugins may be in files of their own.)
    """
    raw = _decoded(text, _PARSING)
    if "name" not in raw:
        raise CNIError(f"{_PARSING}: no name")
    if not isinstance(raw["name"], str):
        raise CNIError(f"{_PARSING}: invalid name type {_go_type(raw['name'])}")
    version = raw.get("cniVersion", "")
    if not isinstance(version, str):
        raise CNIError(f"{_PARSING}: invalid cniVersion type {_go_type(version)}")
    version = (
        _negotiated(version, raw["cniVersions"]) if "cniVersions" in raw else version
    )
    flags = {
        key: _flag(raw, key)
        for key in ("disableCheck", "disableGC", "loadOnlyInlinedPlugins")
    }
    plugins: list[PluginConfig] = []
    if "plugins" in raw:
        if not isinstance(raw["plugins"], list):
            raise CNIError(
                f"{_PARSING}: invalid 'plugins' type {_go_type(raw['plugins'])}"
            )
        if not raw["plugins"]:
            raise CNIError(f"{_PARSING}: no plugins in list")
        for index, plugin in enumerate(raw["plugins"]):
            try:
                plugins.append(plugin_conf_from(marshal(plugin, sort_keys=True)))
            except CNIError as error:
                raise error.wrapped(f"failed to parse plugin config {index}") from None
    elif flags["loadOnlyInlinedPlugins"]:
        raise CNIError(
            f"{_PARSING}: `loadOnlyInlinedPlugins` is true, and no 'plugins' key"
        )
    return NetworkConfigList(raw["name"], version, plugins, text, *flags.values())


def network_conf_from_file(path: str | Path) -> NetworkConfigList:
    """A `.conflist`; unless it forbids that, with the `.conf` files in the folder of
    the network's name beside it. Raises CNIError.
    """
    conf = network_conf_from(_read(path))
    plugins = list(conf.plugins)
    if not conf.load_only_inlined_plugins:
        plugins += [
            plugin_conf_from(_read(file))
            for file in conf_files(Path(path).parent / conf.name, (".conf",))
        ]
    if not plugins:
        raise CNIError("no plugin configs found")
    return NetworkConfigList(
        conf.name,
        conf.cni_version,
        plugins,
        conf.text,
        conf.disable_check,
        conf.disable_gc,
        conf.load_only_inlined_plugins,
    )


def conf_list_from_conf(plugin: PluginConfig) -> NetworkConfigList:
    """A list of one."""
    version = plugin.network.get("cniVersion", "")
    return network_conf_from(
        marshal(
            {"name": plugin.name, "cniVersion": version, "plugins": [plugin.network]},
            sort_keys=True,
        )
    )


def conf_files(directory: str | Path, extensions: Iterable[str]) -> list[Path]:
    """The files with these endings, sorted by name. A folder that is not there has
    none.
    """
    extensions = frozenset(extensions)
    try:
        with os.scandir(directory) as entries:
            return sorted(
                Path(e.path)
                for e in entries
                if not e.is_dir() and os.path.splitext(e.name)[1] in extensions
            )
    except FileNotFoundError:
        return []


def load_conf(directory: str | Path, name: str) -> PluginConfig:
    """The first single plugin of this network. Raises CNIError."""
    files = conf_files(directory, (".conf", ".json"))
    if not files:
        raise CNIError(f"no net configurations found in {directory}")
    for file in files:
        conf = plugin_conf_from(_read(file))
        if conf.name == name:
            return conf
    raise CNIError(f'no net configuration with name "{name}" in {directory}')


def load_network_conf(directory: str | Path, name: str) -> NetworkConfigList:
    """The first network of this name: lists before single plugins. Raises CNIError."""
    files = conf_files(directory, (".conflist",))
    for file in files:
        conf = network_conf_from_file(file)
        if conf.name == name:
            return conf
    if files and not conf_files(directory, (".conf", ".json")):
        raise CNIError(f'no net configuration with name "{name}" in {directory}')
    return conf_list_from_conf(load_conf(directory, name))


def first_network(directory: str | Path) -> NetworkConfigList:
    """The network that containerd uses: it looks into no other file. Raises CNIError
    if there is none, or if the first one is broken.
    """
    try:
        files = conf_files(directory, (".conf", ".conflist", ".json"))
        if not files:
            why = f"no network config found in {directory}: cni plugin not initialized"
            raise CNIError(why)
        return _network_of(files[0])
    except CNIError as error:
        raise CNIError(
            f"cni config load failed: {error}: failed to load cni config"
        ) from None


def _network_of(file: Path) -> NetworkConfigList:
    many = file.suffix == ".conflist"
    try:
        if many:
            return network_conf_from_file(file)
        return conf_list_from_conf(plugin_conf_from(_read(file)))
    except CNIError as error:
        what = "config list" if many else "config"
        raise CNIError(
            f"failed to load CNI {what} file {file}: {error}: invalid cni config"
        ) from None


def inject_conf(original: PluginConfig, values: Mapping[str, Any]) -> PluginConfig:
    """The configuration with more keys, or others. Raises CNIError."""
    config = dict(original.network)
    for key, value in values.items():
        if not key:
            raise CNIError("keys cannot be empty")
        if value is None:
            raise CNIError(f"key '{key}' value must not be nil")
        config[key] = value
    return plugin_conf_from(marshal(config, sort_keys=True))


_PARSING = "error parsing configuration list"


def _negotiated(version: str, versions: Any) -> str:
    """The newest of all offered versions that we know; newer ones than ours are passed
    over.
    """
    if not isinstance(versions, list):
        raise CNIError(f"{_PARSING}: invalid type for cniVersions: []interface {{}}")
    supported = []
    for index, one in enumerate(versions):
        if not isinstance(one, str):
            raise CNIError(
                f"{_PARSING}: invalid type for cniVersions index {index}:"
                f" {_go_type(one)}"
            )
        try:
            supported += [] if greater_than(one, CURRENT) else [one]
        except CNIError as error:
            raise error.wrapped(
                f"{_PARSING}: invalid cniVersions entry {one} at index {index}"
            ) from None
    if version:
        try:
            supported += [] if greater_than(version, CURRENT) else [version]
        except CNIError as error:
            raise error.wrapped(f"{_PARSING}: invalid cniVersion {version}") from None
    return max(supported, key=parse_version, default=version)


def _flag(raw: Mapping[str, Any], key: str) -> bool:
    value = raw.get(key, False)
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise CNIError(f"{_PARSING}: invalid type {_go_type(value)} for {key}")
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise CNIError(f'{_PARSING}: invalid value "{value.lower()}" for {key}')


def _go_type(value: Any) -> str:
    # numbers of any kind are float64 in a map that Go's decoder filled
    return (
        "float64"
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else go_json_type(value)
    )


def _decoded(text: str, prefix: str) -> dict[str, Any]:
    try:
        return unmarshal_object(text)
    except ValueError as error:
        raise CNIError(f"{prefix}: {error}") from None


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError as error:
        raise CNIError(
            f"error reading {path}: open {path}: {(error.strerror or '').lower()}"
        ) from None
