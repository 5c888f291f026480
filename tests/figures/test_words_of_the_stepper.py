"""The journey to step through, letter by letter."""

from __future__ import annotations

import pytest

from lifecycle.figures.stepper import SCRIPT, Stepper, _excerpt, _line
from lifecycle.trace.colours import colour_of
from lifecycle.trace.writes import Line, Write


def test_a_step_is_what_unfolds_with_who_wrote_when_and_how_long_it_took() -> None:
    lines = (Line(0, "a: <b>", "kubelet", "+"),)
    writes = (Write("kubelet", "st<", "pods/<a>", 0.1314, 0.012, lines) for _ in range(2))
    colour = colour_of("kubelet")
    step = (
        f'<li><details name="A &amp; b"><summary><span class="when">131 ms</span> <span class="who" '
        f'style="border-color:{colour}">kubelet</span> st&lt; <code>pods/&lt;a&gt;</code> <span class="took">12.0 ms</span>'
        f'</summary><pre tabindex="0">+ a: &lt;b&gt; <span class="owner" style="border-color:{colour}">kubelet</span>\n'
        "</pre></details></li>"
    )
    assert Stepper("A & b", writes)._repr_html_() == (
        '<section class="journey-stepper" aria-label="A &amp; b"><p><strong>A &amp; b</strong>, 2 writes. <span'
        f' class="to-open">Open one to see what it wrote.</span></p><ol>{step}{step}</ol></section><script>{SCRIPT}</script>'
    )


@pytest.mark.parametrize(
    ("owner", "component"),
    [
        ("kubectl-create", "kubectl"), ("kube-controller-manager", "replicaset-controller"),
        ("kube-scheduler", "scheduler"), ("kubelet", "kubelet"), ("someone<", "someone<"),
    ],
)  # fmt: skip
def test_an_owner_has_the_colour_of_its_program(owner: str, component: str) -> None:
    shown = owner.replace("<", "&lt;")
    assert _line(Line(2, "x: 1", owner, "-")) == (
        f'-     x: 1 <span class="owner" style="border-color:{colour_of(component)}">{shown}</span>\n'
    )
    assert _line(Line(1, "x: <1>", owner, "")) == "    x: &lt;1&gt;\n"
    assert _line(Line(1, "x: 1", "", "+")) == "+   x: 1\n"


def line(depth: int, text: str, change: str = "") -> Line:
    return Line(depth, text, "", change)


def excerpt(*lines: Line) -> list[str]:
    return [text.removesuffix("\n") for text in _excerpt(lines)]


def test_a_change_is_shown_with_a_neighbour_on_each_side_and_all_that_it_stands_in() -> None:
    deep = [
        line(0, "top:"),
        line(1, "a: 1"),
        line(1, "b:"),
        line(2, "c: 1"),
        line(2, "d: 1"),
        line(2, "e: 1", "+"),
        line(1, "f: 1"),
    ]
    assert excerpt(*deep) == [
        "  top:", '<span class="same">  ⋯ 1 line as before</span>', "    b:", '<span class="same">  ⋯ 1 line as before</span>',
        "      d: 1", "+     e: 1", "    f: 1",
    ]  # fmt: skip


def test_at_both_ends_there_is_nothing_to_stand_beside() -> None:
    first = [line(0, "a: 1", "+"), line(0, "b: 1"), line(0, "c: 1"), line(0, "d: 1")]
    same = '<span class="same">  ⋯ 2 lines as before</span>'
    assert excerpt(*first) == ["+ a: 1", "  b: 1", same]
    last = [line(0, "a: 1"), line(0, "b: 1"), line(0, "c: 1"), line(0, "d: 1", "-")]
    assert excerpt(*last) == [same, "  c: 1", "- d: 1"]
    assert excerpt(*first[1:]) == ['<span class="same">  ⋯ 3 lines as before</span>']
    assert excerpt() == []


def test_the_script_makes_two_buttons_that_go_from_step_to_step() -> None:
    assert SCRIPT.splitlines() == [
        "",
        "document.querySelectorAll('.journey-stepper:not(.ready)').forEach(section => {",
        "  section.classList.add('ready');",
        "  const steps = [...section.querySelectorAll('details')];",
        "  const bar = document.createElement('p');",
        "  const go = by => {",
        "    const open = steps.findIndex(step => step.open);",
        "    const next = open < 0 ? 0 : Math.min(Math.max(open + by, 0), steps.length - 1);",
        "    steps.forEach((step, index) => { step.open = index === next; });",
        "    steps[next].scrollIntoView({block: 'nearest'});",
        "  };",
        "  for (const [text, by] of [['‹ previous', -1], ['next ›', 1]]) {",
        "    const button = document.createElement('button');",
        "    button.type = 'button';",
        "    button.textContent = text;",
        "    button.addEventListener('click', () => go(by));",
        "    bar.append(button);",
        "  }",
        "  section.querySelector('ol').before(bar);",
        "});",
    ]
