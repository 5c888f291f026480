"""The journey as text: stage by stage, with times."""

from __future__ import annotations

from lifecycle.trace.journey import Journey, Step

BAR = 32


def render(journey: Journey, *, limit: int = 200) -> str:
    """Lines for a terminal: when, how long, who, what, about whom. At most `limit`
    steps; the rest is counted.
    """
    lines = [
        f"{journey.title} – {milliseconds(journey.duration)} on {journey.provenance}",
        "",
    ]
    component = ""
    for step in journey.steps[:limit]:
        who = step.component if step.component != component else ""
        component = step.component
        lines.append(_line(step, who, journey.duration))
    if len(journey.steps) > limit:
        lines.append(f"… and {len(journey.steps) - limit} more steps")
    lines += ["", *summary(journey)]
    return "\n".join(lines)


def summary(journey: Journey) -> list[str]:
    """How often each stage was passed and how long it took in all."""
    lines = ["stage by stage:"]
    for component, stage in journey.rows():
        steps = journey.of(component, stage)
        total = sum(step.duration for step in steps)
        lines.append(
            f"  {component:24}{stage:22}{len(steps):4}×  {milliseconds(total):>10}"
        )
    return lines


def milliseconds(seconds: float) -> str:
    """A duration as people read it."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _line(step: Step, who: str, whole: float) -> str:
    at = round(BAR * step.start / whole) if whole else 0
    width = max(round(BAR * step.duration / whole), 1) if whole else 1
    bar = (" " * min(at, BAR - 1) + "▇" * width)[:BAR]
    name = "  " * min(step.depth, 4) + step.stage
    return (
        f"{milliseconds(step.start):>10}  {bar:{BAR}} {milliseconds(step.duration):>9} "
        f" {who:22} {name:26} {step.about}".rstrip()
    )
