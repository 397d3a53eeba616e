"""All policies on one schedule on 64 emulated cores: scripts/bench policies.

How the schedule was chosen: by load, not by trying seeds. Work arrives at twice the speed of the cores, so that
about seven fits are in progress at a time and each could have nine cores, for data of 48 to 96 partitions. That is where
scheduling matters: with fewer fits nothing contends, with as many fits as cores one core each is all that anybody can give.
Tasks are long enough that two processors can carry 64 cores. Seed 1 draws order, widths, task times and arrivals.
"""

import argparse
import pathlib
import random
import sys
import tempfile
import time

import schedule
import table
import trial
from comparison import Comparison
from demo import at_least

CORES = 64
FITS = 14
LOAD = 2.0
MILLIS = 400
POLICIES = ("fifo", "fair", "equal", "progress", "slaq-2017", "slaq", "oracle")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench policies", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file for the figures")
    parser.add_argument("--repetitions", type=at_least(1), default=5, help="trials of each policy (default 5)")
    parser.add_argument("--policies", nargs="+", choices=trial.POLICIES, default=POLICIES, metavar="POLICY", help=f"of {', '.join(trial.POLICIES)}")
    parser.add_argument("--seed", type=int, default=1, help="draws another schedule (default 1)")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps records and logs there, and takes up again what is unfinished")
    options = parser.parse_args()
    fits = schedule.schedule(FITS, CORES, LOAD, MILLIS, schedule.widths(CORES), options.seed)
    comparison = Comparison(fits, trial.Machine(CORES, emulated=True, memory="8g"))
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as scratch:
        measure(comparison, options.policies, options.repetitions, options.seed, options.folder or pathlib.Path(scratch), options.json)
    print(table.figures(comparison))
    print()
    print(table.fits(comparison, [p for p in ("fair", "slaq") if p in comparison.policies()]))
    for line in table.warnings(comparison):
        print("note: " + line)
    results = targets(comparison)
    print(table.layout([["target", "measured", "", ""], None] + [[text, value, "met" if met else "MISSED", ""] for text, value, met in results]))
    comparison.write(options.json, {"targets": [{"target": t, "measured": v, "met": m} for t, v, m in results]})


def measure(comparison: Comparison, policies: list[str], repetitions: int, seed: int, folder: pathlib.Path, json: pathlib.Path):
    """Adds all trials, each repetition in an order of its own. The figures so far are written after every repetition."""
    draw, begun = random.Random(seed), time.monotonic()
    oracle = folder / "oracle.json"
    if "oracle" in policies:
        # The oracle's foresight: the curves of a first pass, which counts for nothing else.
        folder.mkdir(parents=True, exist_ok=True)
        trial.write_oracle(oracle, trial.run("fair", comparison.schedule, comparison.machine, folder / "curves", "recording curves for the oracle"))
    for repetition in range(1, repetitions + 1):
        for policy in draw.sample(list(policies), len(policies)):
            title = f"repetition {repetition} of {repetitions}, {table.name(policy)}"
            conf = {"spark.slaq.oracle.path": str(oracle)} if policy == "oracle" else None
            comparison.add(policy, repetition, trial.run(policy, comparison.schedule, comparison.machine, folder / f"{repetition}-{policy}", title, conf))
        comparison.trials.sort(key=lambda t: (list(policies).index(t.policy), t.repetition))
        comparison.write(json)
        print(f"repetition {repetition} of {repetitions} done after {(time.monotonic() - begun) / 60:.0f} min", file=sys.stderr)


def targets(c: Comparison) -> list[tuple[str, str, bool]]:
    """What must be reached: text, measured, whether it is."""
    if not {"fair", "slaq"} <= set(c.policies()):
        return []
    found = []

    def bound(text: str, figure: str, limit: float):
        ratio = c.ratio("slaq", figure)
        found.append((text, table.change(ratio), ratio <= limit))

    bound("time to 90 % at least 35 % below FAIR", "t90_s", 0.65)
    bound("time to 95 % at least 25 % below FAIR", "t95_s", 0.75)
    bound("mean normalised loss at least 35 % below FAIR", "mean_norm_loss", 0.65)
    bound("makespan at most 5 % above FAIR", "makespan_s", 1.05)
    bound("completion at most 15 % above FAIR", "completion_s", 1.15)
    top = c.median("slaq", "share_top_quarter")
    found.append(("top quarter by loss holds at least 50 % of the cores", f"{top:.0%}", top >= 0.5))
    for figure, label in (("t90_s", "time to 90 %"), ("mean_norm_loss", "mean normalised loss")):
        if "oracle" in c.policies():
            part = (1 - c.ratio("slaq", figure)) / max(1 - c.ratio("oracle", figure), 1e-9)
            found.append((f"at least 85 % of the oracle's improvement of {label}", f"{part:.0%}", part >= 0.85))
        others = [p for p in c.policies() if p not in ("slaq", "oracle")]
        best = min(others, key=lambda p: c.median(p, figure))
        found.append((f"better than every other policy on {label}", f"best other: {table.name(best)} {c.median(best, figure):.4g}",
                      c.median("slaq", figure) < c.median(best, figure)))
    return found


if __name__ == "__main__":
    main()
