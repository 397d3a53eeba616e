"""The figures of a trial: how soon its runs were good.

Every figure comes from the same record whatever the policy. A run's normalised loss is 1 until its first loss and at it,
and 0 at the best loss that any trial of the comparison saw for this run (all policies run the same optimiser on the same
data, so their curves are the same: `curve_spread` says by how much they are not). It is the best so far, so that a
stochastic loss that rises again does not count as getting worse.
"""

import dataclasses

import numpy as np

from record import Record

STEP = 0.1  # seconds between the points at which curves are averaged


@dataclasses.dataclass
class Figures:
    """One trial. Seconds; shares are parts of the cores in use."""

    t90_s: float  # mean over runs: submission until 90 % of its total reduction
    t95_s: float
    mean_norm_loss: float  # mean over time and active runs
    loss_area: float  # mean over runs: area under the normalised loss, submission to the common horizon
    completion_s: float  # mean over runs: submission to end
    makespan_s: float
    share_top_quarter: float  # of the quarter of active runs with the highest normalised loss
    share_converged_half: float  # of the half with the lowest
    active_runs: float  # mean number of runs in progress
    cores_used: float  # mean running tasks
    cpu_used: float  # processors of this machine kept busy by the whole JVM
    task_excess: float  # part by which emulated tasks took longer than stated


@dataclasses.dataclass
class Scale:
    """First and best loss of a fit over all trials of a comparison."""

    first: float
    best: float


def scales(records: list[Record]) -> dict[str, Scale]:
    found: dict[str, Scale] = {}
    for record in records:
        for name, fit in record.fits.items():
            if fit.losses:
                known = found.setdefault(name, Scale(fit.losses[0], fit.losses[0]))
                known.best = min(known.best, min(fit.losses))
    return found


def curve_spread(records: list[Record], scale: dict[str, Scale]) -> dict[str, float]:
    """By fit: the largest difference between trials of its normalised loss at the same iteration."""
    spread = {}
    for name, s in scale.items():
        curves = [record.fits[name].losses for record in records if name in record.fits and record.fits[name].losses]
        n = min(len(c) for c in curves)
        stack = np.array([c[:n] for c in curves]) / max(s.first - s.best, 1e-300)
        spread[name] = float((stack.max(axis=0) - stack.min(axis=0)).max())
    return spread


def normalised(losses: list[float], scale: Scale) -> np.ndarray:
    best = np.minimum.accumulate(np.array(losses))
    return np.clip((best - scale.best) / max(scale.first - scale.best, 1e-300), 0.0, 1.0)


def of(record: Record, scale: dict[str, Scale], horizon: float) -> Figures:
    """horizon: when the areas end, seconds after the start; the longest makespan of the comparison."""
    grid = np.arange(0.0, horizon, STEP)
    total, active, areas, t90, t95, completion = np.zeros_like(grid), np.zeros_like(grid), [], [], [], []
    curves = {}
    for name, fit in record.fits.items():
        completion.append(fit.ended - fit.submitted)
        if name not in scale or not fit.losses:
            continue
        curve = normalised(fit.losses, scale[name])
        curves[name] = (np.array(fit.times), curve)
        t90.append(reached(fit.times, curve, 0.10) - fit.submitted)
        t95.append(reached(fit.times, curve, 0.05) - fit.submitted)
        values = at(curves[name], grid)
        areas.append(values[grid >= fit.submitted].sum() * STEP)
        during = (grid >= fit.submitted) & (grid < fit.ended)
        total += np.where(during, values, 0.0)
        active += during
    busy = active > 0
    top, half, used = shares(record, curves)
    return Figures(
        float(np.mean(t90)), float(np.mean(t95)), float(np.mean(total[busy] / active[busy])), float(np.mean(areas)),
        float(np.mean(completion)), record.makespan, top, half, float(active[busy].mean()), used,
        record.cpu / record.makespan, record.excess)


def reached(times: list[float], curve: np.ndarray, level: float) -> float:
    """When the curve is first at or below a level; it always is at its end."""
    hits = np.flatnonzero(curve <= level)
    return times[hits[0]] if len(hits) else times[-1]


def at(curve: tuple[np.ndarray, np.ndarray], moments: np.ndarray) -> np.ndarray:
    times, values = curve
    place = np.searchsorted(times, moments, side="right") - 1
    return np.where(place < 0, 1.0, values[np.maximum(place, 0)])


def shares(record: Record, curves: dict) -> tuple[float, float, float]:
    """Mean over time of the part of the used cores that the top quarter and the converged half hold; and of the cores used.

    Only moments with four active runs or more count: fewer have no quarter.
    """
    top, half, weight, used, time = 0.0, 0.0, 0.0, 0.0, 0.0
    for interval in record.intervals:
        span = interval.end - interval.begin
        cores = sum(interval.running.values())
        used += cores * span
        time += span
        runs = [name for name in interval.running if name in curves]
        if len(runs) < 4 or cores <= 0:
            continue
        loss = {name: float(at(curves[name], np.array([interval.begin]))[0]) for name in runs}
        order = sorted(runs, key=lambda name: -loss[name])
        quarter, middle = max(1, round(len(order) / 4)), len(order) // 2
        top += span * sum(interval.running[name] for name in order[:quarter]) / cores
        half += span * sum(interval.running[name] for name in order[len(order) - middle:]) / cores
        weight += span
    return (top / weight if weight else float("nan"), half / weight if weight else float("nan"), used / time if time else 0.0)
