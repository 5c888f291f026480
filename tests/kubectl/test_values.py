"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "flags.Parsed",
    "global_flags.GlobalFlags",
    "kubeconfig.client_config.Overrides",
    "printing.go_template.nodes.Action",
    "printing.go_template.nodes.Block",
    "printing.go_template.nodes.Bool",
    "printing.go_template.nodes.Branch",
    "printing.go_template.nodes.Call",
    "printing.go_template.nodes.Chain",
    "printing.go_template.nodes.Command",
    "printing.go_template.nodes.Dot",
    "printing.go_template.nodes.End",
    "printing.go_template.nodes.Field",
    "printing.go_template.nodes.Identifier",
    "printing.go_template.nodes.Jump",
    "printing.go_template.nodes.Nil",
    "printing.go_template.nodes.Node",
    "printing.go_template.nodes.Number",
    "printing.go_template.nodes.Pipe",
    "printing.go_template.nodes.String",
    "printing.go_template.nodes.Text",
    "printing.go_template.nodes.Variable",
    "printing.go_template.parser.Template",
    "request.http_transport.Timing",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("kubectl") == CHANGEABLE
