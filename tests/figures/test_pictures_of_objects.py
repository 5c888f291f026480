"""Objects that lead to each other: every one is there once, and each arrow has both its ends."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lifecycle.api.http.wire import Object
from lifecycle.figures import api_services, mutations, rbac, token
from lifecycle.figures.columns import PLAIN, Box, draw_columns
from lifecycle.figures.picture import Picture


def words(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def arrows(figure: Figure) -> list[tuple[float, float]]:
    """From which column (by its right edge) to which (by its left edge), in inches."""
    return [(round(a.xyann[0], 1), round(a.xy[0], 1)) for a in figure.axes[0].texts if not a.get_text()]  # type: ignore[attr-defined]


def colours(figure: Figure) -> list[str]:
    return [to_hex(box.get_facecolor()) for box in figure.axes[0].patches]


def boxes(figure: Figure) -> list[Any]:
    return list(figure.axes[0].patches)


def test_boxes_stand_below_their_heading_and_arrows_lead_to_the_right() -> None:
    one, two, three = Box("one"), Box("two", ("a", "b")), Box("three")
    figure = draw_columns(("x", "y"), ([one], [two, three]), [(one, two), (one, three)], width=7.0)
    assert words(figure) == ["x", "one", "y", "two", "a", "b", "three"]
    assert [round(box.get_x(), 2) for box in boxes(figure)] == [0.0, 4.27, 4.27]
    assert arrows(figure) == [(2.7, 4.3), (2.7, 4.3)]
    first, second = boxes(figure)[1:]
    assert first.get_y() + first.get_height() < second.get_y()  # they do not overlap
    with pytest.raises(ValueError, match=r"no box for the arrow one → four$"):
        draw_columns(("x",), ([one],), [(one, Box("four"))])


def test_a_line_that_is_longer_than_its_box_is_set_smaller() -> None:
    short, long = Box("a", ("pods",)), Box("b", ("get, list, watch, create, update, patch, delete: deployments",))
    axes = draw_columns(("x", "y"), ([short], [long]), [(short, long)], width=5.0).axes[0]
    sizes = {text.get_text(): text.get_size() for text in axes.texts}
    assert sizes["pods"] == 8.5
    [box] = [box for box in boxes(axes.figure) if box.get_x() > 0]
    [text] = [text for text in axes.texts if text.get_text() == long.lines[0]]
    axes.figure.canvas.draw()
    assert text.get_window_extent().width < box.get_window_extent().width


def a_role(kind: str, name: str, namespace: str = "") -> Object:
    rule = {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "create"]}
    return {
        "kind": kind,
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "rules": [rule],
    }


def a_binding(kind: str, role: str, name: str, subject: Object, namespace: str = "") -> Object:
    metadata = {"name": f"{name}-binding", **({"namespace": namespace} if namespace else {})}
    return {"kind": kind, "metadata": metadata, "roleRef": {"kind": role, "name": name}, "subjects": [subject]}


JANE = {"kind": "User", "name": "jane"}
ROBOT = {"kind": "ServiceAccount", "name": "robot", "namespace": "shop"}


def test_a_binding_joins_its_subjects_to_its_role_and_tells_where() -> None:
    objects = [
        a_role("ClusterRole", "deployer"),
        a_binding("RoleBinding", "ClusterRole", "deployer", JANE, "shop"),
        a_binding("ClusterRoleBinding", "ClusterRole", "deployer", ROBOT),
    ]
    figure = rbac.draw_rbac(objects)
    said = words(figure)
    assert said.count("ClusterRole") == 1  # one role, two bindings
    assert said.count("get, create: deployments") == 1
    assert (said.count("in shop"), said.count("everywhere")) == (1, 1)
    assert "shop:robot" in said
    assert len(arrows(figure)) == 4
    assert colours(figure) == [*[rbac.SUBJECT] * 2, rbac.NAMESPACED, rbac.CLUSTER_WIDE, rbac.CLUSTER_WIDE]


def test_a_role_of_another_namespace_is_another_role_and_a_missing_one_is_drawn_as_missing() -> None:
    objects = [a_role("Role", "deployer", "elsewhere"), a_binding("RoleBinding", "Role", "deployer", JANE, "shop")]
    figure = rbac.draw_rbac(objects)
    assert words(figure).count("is not there") == 1
    assert colours(figure)[-2:] == [rbac.NAMESPACED, rbac.MISSING]


def test_local_api_services_are_one_box_and_each_added_one_leads_to_its_service() -> None:
    local = [{"spec": {"group": group, "version": "v1"}} for group in ("", "apps", "batch", "policy", "long.example")]
    added = {"spec": {"group": "metrics", "version": "v1", "service": {"name": "server", "namespace": "monitoring"}}}
    figure = api_services.draw_api_services([*local, added])
    said = words(figure)
    assert [word for word in said if word.endswith("/v1")] == ["core/v1", "apps/v1", "batch/v1", "metrics/v1"]
    assert "and 2 more" in said
    assert ("server" in said, "in monitoring" in said) == (True, True)
    assert len(arrows(figure)) == 4
    alone = api_services.draw_api_services([added])
    assert "local" not in words(alone)
    assert Picture(alone)._repr_svg_() == Picture(api_services.draw_api_services([added]))._repr_svg_()


def test_each_field_of_a_token_leads_to_what_it_is_held_against() -> None:
    private = {"namespace": "default", "serviceaccount": {"name": "robot", "uid": "0123456789"}}
    fields = {"aud": ["here", "there"], "exp": 4600, "iat": 1000, "kubernetes.io": private}
    said = words(token.draw_token(fields))
    assert said[:7] == ["the token says", "signature", "by the issuer", "aud", "here, …", "exp", "3600 s after iat"]
    assert ("robot" in said, "uid 01234567…" in said, "the ServiceAccount of that name" in said) == (True, True, True)
    assert "pod" not in said
    bound = {**private, "pod": {"name": "nginx", "uid": "9876543210"}, "node": {"name": "worker", "uid": "1"}}
    figure = token.draw_token({**fields, "kubernetes.io": bound})
    assert "the Pod of that name" in words(figure)
    assert "worker" not in words(figure)  # the token of a pod is bound to the pod alone
    assert len(arrows(figure)) == 5


def test_a_step_that_changes_the_object_stands_out_and_each_step_has_a_box() -> None:
    given = ("app",)
    steps = [
        mutations.Step("posted", "you", given),
        mutations.Step("round 1", "a", given),
        mutations.Step("round 1", "b", ("app", "sidecar")),
        mutations.Step("round 2", "a", ("app", "sidecar")),
    ]
    figure = mutations.draw_mutations(steps)
    assert colours(figure) == [PLAIN, PLAIN, mutations.CHANGED, PLAIN]
    assert words(figure).count("a") == 2  # called twice, drawn twice
    assert len(arrows(figure)) == 3
