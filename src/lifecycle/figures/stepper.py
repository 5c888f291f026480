"""A journey to step through: each write, and what it made of its object.

Plain HTML: every step unfolds by itself, with mouse, finger or keyboard, and without
any script. A script adds two buttons that go from step to step. In print all steps
stand folded; the picture of the timeline is what paper shows.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lifecycle.trace.colours import colour_of
from lifecycle.trace.text import milliseconds
from lifecycle.trace.writes import Line, Write

PROGRAMS = {
    "kubectl-create": "kubectl",
    "kube-controller-manager": "replicaset-controller",
    "kube-scheduler": "scheduler",
    "kubelet": "kubelet",
}
"""Manager → whose colour marks its fields. All controllers are one manager."""

NEAR = 1
"""Unchanged lines that are shown around a change."""


class Stepper:
    """One journey's writes as HTML. `title` says whose they are."""

    def __init__(self, title: str, writes: Iterable[Write]) -> None:
        self.title = title
        self.writes = tuple(writes)

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{_step(write, self.title)}</li>" for write in self.writes)
        return (
            f'<section class="journey-stepper" aria-label="{html.escape(self.title)}">'
            f"<p><strong>{html.escape(self.title)}</strong>, {len(self.writes)} writes."
            ' <span class="to-open">Open one to see what it wrote.</span></p>'
            f"<ol>{steps}</ol>"
            f"</section><script>{SCRIPT}</script>"
        )


def _step(write: Write, group: str) -> str:
    colour = colour_of(write.component)
    return (
        f'<details name="{html.escape(group)}"><summary>'
        f'<span class="when">{round(1000 * write.start)} ms</span>'
        f' <span class="who" style="border-color:{colour}">'
        f"{html.escape(write.component)}</span>"
        f" {html.escape(write.stage)} <code>{html.escape(write.about)}</code>"
        f' <span class="took">{milliseconds(write.duration)}</span></summary>'
        f'<pre tabindex="0">{"".join(_excerpt(write.lines))}</pre></details>'
    )


def _excerpt(lines: Sequence[Line]) -> Iterator[str]:
    """The changed lines with what they stand in; the rest is counted."""
    kept = _kept(lines)
    for is_kept, run in groupby(range(len(lines)), key=lambda index: index in kept):
        numbers = list(run)
        if is_kept:
            yield from (_line(lines[index]) for index in numbers)
        else:
            count = "1 line" if len(numbers) == 1 else f"{len(numbers)} lines"
            yield f'<span class="same">  ⋯ {count} as before</span>\n'


def _kept(lines: Sequence[Line]) -> set[int]:
    kept: set[int] = set()
    for index, line in enumerate(lines):
        if not line.change:
            continue
        kept.update(range(max(index - NEAR, 0), min(index + NEAR + 1, len(lines))))
        depth = line.depth
        for above in range(index - 1, -1, -1):
            if lines[above].depth < depth:
                depth = lines[above].depth
                kept.add(above)
    return kept


def _line(line: Line) -> str:
    text = html.escape(f"{line.change or ' '} {'  ' * line.depth}{line.text}")
    if not line.owner:
        return f"{text}\n"
    colour = colour_of(PROGRAMS.get(line.owner, line.owner))
    owner = html.escape(line.owner)
    return (
        f'{text} <span class="owner" style="border-color:{colour}">{owner}</span>\n'
        if line.change
        else f"{text}\n"
    )


SCRIPT = """
document.querySelectorAll('.journey-stepper:not(.ready)').forEach(section => {
  section.classList.add('ready');
  const steps = [...section.querySelectorAll('details')];
  const bar = document.createElement('p');
  const go = by => {
    const open = steps.findIndex(step => step.open);
    const next = open < 0 ? 0 : Math.min(Math.max(open + by, 0), steps.length - 1);
    steps.forEach((step, index) => { step.open = index === next; });
    steps[next].scrollIntoView({block: 'nearest'});
  };
  for (const [text, by] of [['‹ previous', -1], ['next ›', 1]]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.addEventListener('click', () => go(by));
    bar.append(button);
  }
  section.querySelector('ol').before(bar);
});
"""
