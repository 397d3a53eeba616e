"""The page of a comparison: one HTML file that needs no network, loss and cores over time of every fit."""

import html
import json
import os
import pathlib

import figures
import table
from comparison import Comparison, Trial

TEMPLATE = pathlib.Path(__file__).with_name("page.html")


def write(path: pathlib.Path, comparison: Comparison, policies: tuple[str, str], command: str):
    """Draws the first trial of two policies; the figures are medians over all trials."""
    shown = [next(t for t in comparison.trials if t.policy == policy) for policy in policies]
    data = {
        "policies": [trial(comparison, t) for t in shown],
        "fits": [{"name": f.name, "kind": f.kind, "data": f.data, "partitions": f.partitions, "iterations": f.iterations, "at": f.at,
                  "algorithm": shown[0].record.fits[f.name].algorithm if f.name in shown[0].record.fits else ""} for f in comparison.schedule],
        "figures": [{"key": key, "label": f"{first} {second}".strip(),
                     "values": [form.format(comparison.median(p, key)) for p in policies],
                     "change": comparison.ratio(policies[1], key, policies[0]) - 1 if key in tiles(comparison) else None}
                    for key, first, second, form in table.COLUMNS],
        "cores": comparison.machine.cores,
        "emulated": comparison.machine.emulated,
        "processors": os.cpu_count(),
        "pairs": max(t.repetition for t in comparison.trials),
        "command": command,
        "warnings": table.warnings(comparison),
    }
    # "</" would end the script element that carries the data.
    text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    path.write_text(TEMPLATE.read_text().replace("/*DATA*/", text).replace("<!--TITLE-->", html.escape(f"SLAQ on {comparison.machine.cores} cores")))


def tiles(comparison: Comparison) -> tuple[str, ...]:
    """Figures whose change means something; shares are better read as they are."""
    return ("t90_s", "t95_s", "mean_norm_loss", "loss_area", "completion_s", "makespan_s")


def trial(comparison: Comparison, shown: Trial) -> dict:
    fits = {}
    for name, fit in shown.record.fits.items():
        if name not in comparison.scale or not fit.losses:
            continue
        curve = figures.normalised(fit.losses, comparison.scale[name])
        fits[name] = {
            "submitted": round(fit.submitted, 2), "ended": round(fit.ended, 2),
            "t90": round(figures.reached(fit.times, curve, 0.10), 2), "t95": round(figures.reached(fit.times, curve, 0.05), 2),
            "loss": [[round(t, 2), round(float(v), 4)] for t, v in zip(fit.times, curve)],
        }
    intervals = [[round(i.begin, 2), round(i.end, 2), {n: round(c, 2) for n, c in i.running.items() if c > 0.005}]
                 for i in shown.record.intervals if i.end > 0]
    return {"name": table.name(shown.policy), "makespan": round(shown.record.makespan, 1), "fits": fits, "intervals": intervals}
