"""The requests for a custom resource, in the words of OpenAPI v3.

They are the requests for Deployments under other names, for a generic registry serves
both. Different is what a custom resource does not have: protobuf, strategic merge
patches, a patch that creates, and a watch that is told of as such.

Upstream: `apiextensions-apiserver/pkg/controller/openapi/builder/builder.go`
(`buildRoute`, `newBuilder`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.published import published

COLLECTION = "/apis/apps/v1/namespaces/{namespace}/deployments"
EVERYWHERE = "/apis/apps/v1/deployments"
PACKAGE = "io.k8s.api.apps.v1."
REF = "#/components/schemas/"
MEDIA_TYPES = ("application/json", "application/yaml")
PATCHES = (
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
)


@cache
def _deployments() -> Any:
    return published("openapi/apis/apps/v1.json")["paths"]


@dataclass(slots=True, frozen=True)
class CustomPaths:
    """What a version of a definition is called. `one` and `many`: the components of its
    objects and lists.
    """

    group: str
    version: str
    plural: str
    kind: str
    one: str
    many: str
    namespaced: bool

    def paths(self, subresources: Object) -> dict[str, Object]:
        """By path; `subresources` as a CustomResourceDefinition has them."""
        base = f"/apis/{self.group}/{self.version}"
        where = "/namespaces/{namespace}" if self.namespaced else ""
        collection = f"{base}{where}/{self.plural}"
        ends = ["", "/{name}"] + [
            f"/{{name}}/{name}"
            for name in ("scale", "status")
            if subresources.get(name) is not None
        ]
        paths = {
            collection + end: self._item(_deployments()[COLLECTION + end])
            for end in ends
        }
        if self.namespaced:
            paths[f"{base}/{self.plural}"] = self._item(_deployments()[EVERYWHERE])
        return paths

    def _item(self, item: Object) -> Object:
        operations = {
            key: self._operation(value)
            for key, value in item.items()
            if key != "parameters"
        }
        parameters = [
            self._parameter(each)
            for each in item["parameters"]
            if self.namespaced or each["name"] != "namespace"
        ]
        return {**operations, "parameters": parameters}

    def _parameter(self, parameter: Object) -> Object:
        if parameter["name"] != "name":
            return parameter
        return {**parameter, "description": f"name of the {self.kind}"}

    def _operation(self, operation: Object) -> Object:
        action = operation["x-kubernetes-action"]
        responses = {
            code: self._content(response, MEDIA_TYPES)
            for code, response in operation["responses"].items()
            if (action, code) != ("patch", "201")
        }
        parameters = operation.get("parameters")
        if action == "get":
            parameters = [
                each for each in _list_parameters() if each["name"] == "resourceVersion"
            ]
        elif action == "deletecollection":
            parameters = _list_parameters()
        described: Object = {
            "tags": [f"{self._camel[0].lower()}{self._camel[1:]}_{self.version}"],
            "description": self._description(operation["description"]),
            "operationId": self._operation_id(operation["operationId"]),
        }
        if parameters:
            described["parameters"] = parameters
        if "requestBody" in operation and action != "deletecollection":
            types = PATCHES if action == "patch" else MEDIA_TYPES
            described["requestBody"] = self._content(operation["requestBody"], types)
        return described | {
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {
                "group": self.group,
                "version": self.version,
                "kind": self.kind,
            },
        }

    @property
    def _camel(self) -> str:
        return "".join(part.capitalize() for part in self.group.split("."))

    def _description(self, text: str) -> str:
        plain = text.replace("list or watch", "list")
        return plain.replace("Deployment", self.kind)

    def _operation_id(self, text: str) -> str:
        action, _, rest = text.partition("AppsV1")
        rest = rest if self.namespaced else rest.replace("Namespaced", "")
        before, _, after = rest.partition("Deployment")
        version = self.version.capitalize()
        return f"{action}{self._camel}{version}{before}{self.kind}{after}"

    def _content(self, holder: Object, types: tuple[str, ...]) -> Object:
        if "content" not in holder:
            return holder
        schema = next(iter(holder["content"].values()))["schema"]
        names = {
            f"{REF}{PACKAGE}Deployment": REF + self.one,
            f"{REF}{PACKAGE}DeploymentList": REF + self.many,
        }
        ref = {"$ref": names.get(schema["$ref"], schema["$ref"])}
        return {**holder, "content": {each: {"schema": ref} for each in types}}


def _list_parameters() -> list[Object]:
    parameters: list[Object] = _deployments()[COLLECTION]["get"]["parameters"]
    return parameters
