"""A comparison: trials of one schedule under several policies, repeated, and what follows from them."""

import dataclasses
import json
import os
import pathlib
import statistics

import figures
from figures import Figures
from record import Record
from schedule import Fit
from trial import Machine

# The largest difference between trials of a normalised loss at the same iteration that still counts as the same curve.
# Sums over partitions are added in the order in which tasks end, so curves agree to rounding, which optimisers amplify.
SAME_CURVE = 0.02


@dataclasses.dataclass
class Trial:
    policy: str
    repetition: int
    record: Record
    figures: Figures | None = None


@dataclasses.dataclass
class Comparison:
    schedule: list[Fit]
    machine: Machine
    trials: list[Trial] = dataclasses.field(default_factory=list)
    scale: dict[str, figures.Scale] = dataclasses.field(default_factory=dict)

    def add(self, policy: str, repetition: int, record: Record):
        """Figures of all trials follow from all trials: the best loss and the horizon are common."""
        self.trials.append(Trial(policy, repetition, record))
        records = [t.record for t in self.trials]
        self.scale = figures.scales(records)
        horizon = max(r.makespan for r in records)
        for trial in self.trials:
            trial.figures = figures.of(trial.record, self.scale, horizon)

    def policies(self) -> list[str]:
        return list(dict.fromkeys(t.policy for t in self.trials))

    def values(self, policy: str, figure: str) -> list[float]:
        return [getattr(t.figures, figure) for t in self.trials if t.policy == policy]

    def median(self, policy: str, figure: str) -> float:
        return statistics.median(self.values(policy, figure))

    def ratios(self, policy: str, figure: str, to: str = "fair") -> list[float]:
        """Pair by pair: each repetition's figure over that of the other policy in the same repetition."""
        base = {t.repetition: getattr(t.figures, figure) for t in self.trials if t.policy == to}
        return [getattr(t.figures, figure) / base[t.repetition] for t in self.trials if t.policy == policy and t.repetition in base]

    def ratio(self, policy: str, figure: str, to: str = "fair") -> float:
        return statistics.median(self.ratios(policy, figure, to))

    def different_curves(self) -> dict[str, float]:
        """Fits whose curve was not the same in all trials, and by how much."""
        spread = figures.curve_spread([t.record for t in self.trials], self.scale)
        return {name: value for name, value in spread.items() if value > SAME_CURVE}

    def silent(self) -> list[str]:
        """Fits that never reported a loss in some trial: they are in no loss figure."""
        return sorted({name for t in self.trials for name, fit in t.record.fits.items() if not fit.losses})

    def summary(self) -> dict:
        names = [f.name for f in dataclasses.fields(Figures)]
        # How far tasks were too long is 0 on a good day, and no ratio.
        compared = [name for name in names if name != "task_excess"]
        result = {
            "policies": {p: {f: round(self.median(p, f), 5) for f in names} for p in self.policies()},
            "spread": {p: {f: [round(min(self.values(p, f)), 5), round(max(self.values(p, f)), 5)] for f in names} for p in self.policies()},
            "repetitions": max((t.repetition for t in self.trials), default=0),
            "machine": dataclasses.asdict(self.machine) | {"processors": os.cpu_count()},
            "schedule": [dataclasses.asdict(fit) for fit in self.schedule],
            "different_curves": self.different_curves(),
            "without_loss": self.silent(),
            "trials": [{"policy": t.policy, "repetition": t.repetition} | dataclasses.asdict(t.figures) for t in self.trials],
        }
        if "fair" in self.policies():
            result["ratios"] = {
                p: {f: {"median": round(self.ratio(p, f), 4), "min": round(min(self.ratios(p, f)), 4), "max": round(max(self.ratios(p, f)), 4)} for f in compared}
                for p in self.policies() if p != "fair" and self.ratios(p, "t90_s")
            }
        return result

    def write(self, path: pathlib.Path, more: dict | None = None):
        path.write_text(json.dumps(self.summary() | (more or {}), indent=1) + "\n")
