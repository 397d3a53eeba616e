"""Tables of a comparison, for a terminal."""

import os

from comparison import Comparison
from figures import normalised, reached

COLUMNS = (
    ("t90_s", "90 % of the", "reduction, s", "{:.2f}"),
    ("t95_s", "95 % of the", "reduction, s", "{:.2f}"),
    ("mean_norm_loss", "mean norm.", "loss, active", "{:.4f}"),
    ("loss_area", "area under", "loss, s", "{:.2f}"),
    ("completion_s", "completion", "s", "{:.2f}"),
    ("makespan_s", "makespan", "s", "{:.1f}"),
    ("share_top_quarter", "cores of the", "top quarter", "{:.0%}"),
    ("share_converged_half", "cores of the", "conv. half", "{:.0%}"),
    ("active_runs", "active", "runs", "{:.1f}"),
    ("cores_used", "cores", "used", "{:.1f}"),
    ("cpu_used", "real CPUs", "busy", "{:.2f}"),
    ("task_excess", "tasks", "too long", "{:.0%}"),
)
NAMES = {"fair": "stock FAIR", "fifo": "stock FIFO", "equal": "equal limits", "progress": "by progress", "slaq-2017": "SLAQ 2017",
         "las": "least served", "slaq": "SLAQ", "oracle": "oracle"}

# Part by which emulated tasks may take longer than stated before a reader is warned.
MOST_EXCESS = 0.05
# Part by which the processor time of unemulated trials may differ, likewise.
MOST_NOISE = 0.05


def name(policy: str) -> str:
    return NAMES.get(policy, policy)


def figures(comparison: Comparison) -> str:
    """Medians, below them min-max where there are several trials, and the ratios to FAIR, pair by pair."""
    rows = [[""] + [c[1] for c in COLUMNS], [""] + [c[2] for c in COLUMNS], None]
    for policy in comparison.policies():
        rows.append([name(policy)] + [c[3].format(comparison.median(policy, c[0])) for c in COLUMNS])
        if len(comparison.values(policy, "t90_s")) > 1:
            rows.append(["  min-max"] + [spread(comparison.values(policy, c[0]), c[3]) for c in COLUMNS])
    compared = [p for p in comparison.policies() if p != "fair" and "fair" in comparison.policies() and comparison.ratios(p, "t90_s")]
    if compared:
        rows.append(None)
    for policy in compared:
        rows.append([f"{name(policy)} / FAIR"] + [change(comparison.ratio(policy, c[0])) for c in COLUMNS[:6]])
        values = {c[0]: comparison.ratios(policy, c[0]) for c in COLUMNS[:6]}
        if len(values["t90_s"]) > 1:
            rows.append(["  min-max"] + [f"{change(min(v))}…{change(max(v))}" for v in values.values()])
    return layout(rows)


def spread(values: list[float], form: str) -> str:
    return f"{form.format(min(values))}-{form.format(max(values))}"


def change(ratio: float) -> str:
    return f"{(ratio - 1) * 100:+.0f} %"


def layout(rows: list[list[str] | None]) -> str:
    """Aligns columns; None is a rule."""
    width = max(len(r) for r in rows if r)
    widths = [max(len(r[i]) for r in rows if r and i < len(r)) for i in range(width)]
    lines = []
    for row in rows:
        if row is None:
            lines.append("-" * (sum(widths) + 2 * (width - 1)))
        else:
            lines.append("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())
    return "\n".join(lines)


def warnings(comparison: Comparison) -> list[str]:
    """What a reader must know to trust the figures."""
    said = []
    if different := comparison.different_curves():
        said.append("curves that differ between trials (largest difference of normalised losses): "
                    + ", ".join(f"{n} {v:.2f}" for n, v in different.items()))
    if silent := comparison.silent():
        said.append("fits without a reported loss, in no loss figure: " + ", ".join(silent))
    if dropped := sum(t.record.dropped for t in comparison.trials):
        said.append(f"{dropped} lines of the record were lost")
    if comparison.machine.emulated:
        worst = max(comparison.trials, key=lambda t: t.figures.task_excess)
        if worst.figures.task_excess > MOST_EXCESS:
            said.append(f"emulated tasks took up to {worst.figures.task_excess:.0%} longer than stated (under {name(worst.policy)}): the {os.cpu_count()} "
                        "real processors could not carry all emulated cores, times are too long")
    else:
        least, most = min(t.record.cpu for t in comparison.trials), max(t.record.cpu for t in comparison.trials)
        if most > (1 + MOST_NOISE) * least:
            said.append(f"the same work took {least:.0f} to {most:.0f} s of processor time: the machine was not equally fast in all trials")
    return said


def fits(comparison: Comparison, policies: list[str]) -> str:
    """Seconds to 90 % and to the end for every fit, as means over the trials."""
    rows = [["fit", "partitions", "submitted"] + [f"{name(p)}: {w}" for p in policies for w in ("90 %", "end")], None]
    for fit in comparison.schedule:
        row = [fit.name, str(fit.partitions), f"{fit.at:.1f}"]
        for policy in policies:
            found = [t.record.fits[fit.name] for t in comparison.trials if t.policy == policy]
            t90 = [reached(r.times, normalised(r.losses, comparison.scale[fit.name]), 0.1) - r.submitted for r in found if r.losses]
            row += [f"{sum(t90) / len(t90):.1f}" if t90 else "-", f"{sum(r.ended - r.submitted for r in found) / len(found):.1f}"]
        rows.append(row)
    return layout(rows)
