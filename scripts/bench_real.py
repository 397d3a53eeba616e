"""FAIR and SLAQ on real processors, nothing emulated: scripts/bench real.

A smaller schedule of the same catalogue on the full data sets, with four times as many slots as processors. Here little can
be won, since a fit gets no more than the machine has; what counts is that nothing is lost.
"""

import argparse
import os
import pathlib
import tempfile

import bench_policies
import schedule
import table
import trial
from comparison import Comparison
from demo import at_least

FITS = 12
LOAD = 1.6
WIDTHS = (8, 12, 16)
FIGURES = ("t90_s", "t95_s", "mean_norm_loss", "loss_area", "completion_s", "makespan_s")


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench real", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file for the figures")
    parser.add_argument("--repetitions", type=at_least(1), default=5, help="trials of each policy (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="draws another schedule (default 1)")
    parser.add_argument("--folder", type=pathlib.Path, help="keeps records and logs there, and takes up again what is unfinished")
    options = parser.parse_args()
    processors = os.cpu_count() or 1
    fits = schedule.schedule(FITS, processors, LOAD, 0, WIDTHS, options.seed)
    comparison = Comparison(fits, trial.Machine(processors * 4, emulated=False, data="full", memory="6g"))
    with tempfile.TemporaryDirectory(prefix="slaq-bench-") as scratch:
        bench_policies.measure(comparison, ["fair", "slaq"], options.repetitions, options.seed, options.folder or pathlib.Path(scratch), options.json)
    print(table.figures(comparison))
    for line in table.warnings(comparison):
        print("note: " + line)
    results = [(f"{figure}: at most 3 % above FAIR", table.change(r := comparison.ratio("slaq", figure)), r <= 1.03) for figure in FIGURES]
    print(table.layout([["target", "measured", ""], None] + [[t, v, "met" if m else "MISSED"] for t, v, m in results]))
    comparison.write(options.json, {"targets": [{"target": t, "measured": v, "met": m} for t, v, m in results]})


if __name__ == "__main__":
    main()
