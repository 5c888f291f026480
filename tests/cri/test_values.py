"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "apis.container.ContainerStatus",
    "apis.pod_sandbox.PodSandboxStatus",
    "apis.streams.Streams",
    "conformance_subject.Subject",
    "hollow.process.Process",
    "hollow.shell_syntax.For",
    "hollow.shell_syntax.If",
    "hollow.shell_syntax.Item",
    "hollow.shell_syntax.Loop",
    "hollow.shell_syntax.Pipe",
    "hollow.shell_syntax.Redirected",
    "hollow.shell_syntax.Sequence",
    "hollow.shell_syntax.Simple",
    "hollow.shell_syntax.Subshell",
    "images.oci_image.BuiltImage",
    "images.registry.Repository",
    "sandbox.records.Container",
    "sandbox.records.Sandbox",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("cri") == CHANGEABLE
