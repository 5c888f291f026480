"""YAML as the real server writes it: keys sorted, lists not indented, `"3"` in double quotes because it would read
as a number.

Upstream: `sigs.k8s.io/yaml` (`Marshal`) through `apimachinery/pkg/runtime/serializer/json/json.go`
(`Serializer.doEncode`), v1.36.
"""

from __future__ import annotations

from typing import Any

import yaml

_TEXT = "tag:yaml.org,2002:str"


class _GoDumper(yaml.SafeDumper):
    """Safe YAML with Go's choice of quotes."""

    def ignore_aliases(self, data: Any) -> bool:
        """Values are written out where they stand, even if one object stands in two places."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif dumper.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT:
        style = '"'
    return dumper.represent_scalar(_TEXT, text, style=style)


_GoDumper.add_representer(str, _represent_text)


def to_yaml(obj: Any) -> bytes:
    """A JSON value as YAML."""
    text: str = yaml.dump(obj, Dumper=_GoDumper, sort_keys=True, allow_unicode=True, width=1 << 20)
    return text.encode()
