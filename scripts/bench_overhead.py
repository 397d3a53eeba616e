"""What the plugin costs one fit that runs alone: scripts/bench overhead.

A KMeans on MNIST digits with iterations of about 100 ms, real computing, in drivers of their own with and without the plugin,
in alternation. Each driver warms up with a whole fit, then times several.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import table
import trial
from demo import at_least

ITERATIONS = 30
FITS = 5


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench overhead", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file for the figures")
    parser.add_argument("--pairs", type=at_least(1), default=8, help="pairs of drivers (default 8)")
    parser.add_argument("--line", choices=sorted(trial.SCALA), default="4.2", help="Spark line (default 4.2)")
    options = parser.parse_args()
    found = {"without": [], "with": []}
    for pair in range(1, options.pairs + 1):
        for kind in ("without", "with") if pair % 2 else ("with", "without"):
            found[kind].append(drive(kind == "with", options.line))
            print(f"pair {pair} of {options.pairs}, {kind} the plugin: {found[kind][-1][0]:.1f} ms an iteration", file=sys.stderr)
    slower = [w[0] / o[0] - 1 for w, o in zip(found["with"], found["without"])]
    later = [w[1] - o[1] for w, o in zip(found["with"], found["without"])]
    rows = [["", "ms an iteration", "min-max", "start, ms", "min-max"], None]
    for kind, values in found.items():
        iterations, starts = [v[0] for v in values], [v[1] for v in values]
        rows.append([f"{kind} the plugin", f"{statistics.median(iterations):.1f}", table.spread(iterations, "{:.1f}"),
                     f"{statistics.median(starts):.0f}", table.spread(starts, "{:.0f}")])
    print(table.layout(rows))
    results = [
        ("an iteration at most 1 % slower, median of pairs", f"{statistics.median(slower):+.2%}", statistics.median(slower) <= 0.01),
        ("start at most 200 ms later, median of pairs", f"{statistics.median(later):+.0f} ms", statistics.median(later) <= 200),
    ]
    print(table.layout([["target", "measured", ""], None] + [[t, v, "met" if m else "MISSED"] for t, v, m in results]))
    options.json.write_text(json.dumps({
        "iteration_ms": {k: [round(v[0], 3) for v in values] for k, values in found.items()},
        "start_ms": {k: [round(v[1], 1) for v in values] for k, values in found.items()},
        "slower": {"median": statistics.median(slower), "min": min(slower), "max": max(slower)},
        "start_later_ms": {"median": statistics.median(later), "min": min(later), "max": max(later)},
        "targets": [{"target": t, "measured": v, "met": m} for t, v, m in results],
    }, indent=1) + "\n")


def drive(plugin: bool, line: str) -> tuple[float, float]:
    """Milliseconds an iteration (median of the driver's fits) and milliseconds until the session stood."""
    conf = {"spark.plugins": trial.PLUGIN, "spark.jars": str(trial.product_jar(line))} if plugin else {}
    with tempfile.TemporaryDirectory(prefix="slaq-overhead-") as scratch:
        command = trial.submit("workload.Single", trial.Machine(2, emulated=False, memory="2g", line=line), conf, pathlib.Path(scratch))
        log = pathlib.Path(scratch) / "spark.log"
        with log.open("w") as err:
            process = subprocess.Popen(command + [str(trial.DEPS / "data/full"), str(ITERATIONS), str(FITS)], env=trial.environment(),
                                       stdout=subprocess.PIPE, stderr=err, text=True, start_new_session=True)
            output = trial.watch(process, FITS, f"{'with' if plugin else 'without'} the plugin", timeout=600)
        if process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode}\n{log.read_text(errors='replace')[-6000:]}")
    rows = [row.split("\t") for row in output]
    return statistics.median(float(r[1]) for r in rows if r[0] == "fit"), next(float(r[1]) for r in rows if r[0] == "context")


if __name__ == "__main__":
    main()
