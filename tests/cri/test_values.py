"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "apis.container.ContainerStatus",
    "apis.pod_sandbox.PodSandboxStatus",
    "apis.streams.Streams",
    "conformance_subject.Subject",
    "hollow.process.process.Process",
    "hollow.shell.syntax.For",
    "hollow.shell.syntax.If",
    "hollow.shell.syntax.Item",
    "hollow.shell.syntax.Loop",
    "hollow.shell.syntax.Pipe",
    "hollow.shell.syntax.Redirected",
    "hollow.shell.syntax.Sequence",
    "hollow.shell.syntax.Simple",
    "hollow.shell.syntax.Subshell",
    "images.oci_image.BuiltImage",
    "images.registry.Repository",
    "sandbox.records.Container",
    "sandbox.records.Sandbox",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("cri") == CHANGEABLE
