"""Several applications that share a cluster: scripts/bench applications.

Each trains one unchanged MLlib fit in a driver of its own, on a real standalone Master and Worker that declares more cores
than the machine has: tasks are lengthened, as in the demo. The applications are submitted one after the other, so that
there is more work than cores. Compared are Spark's dynamic allocation as it is (whoever comes first takes all), the same
with equal caps, and the arbiter. Times run from the submission of an application, and include the start of its driver.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time

import figures
import record
import schedule
import table
import trial
from demo import at_least

sys.path.append(str(trial.ROOT / "tests"))
from applications import App
from arbiter import Arbiter
from cluster import Cluster
from conftest import PLUGIN, Spark

LINE = "4.2"
POLICIES = {"stock": "dynamic allocation", "caps": "equal caps", "arbiter": "the arbiter"}
AGAINST = [policy for policy in POLICIES if policy != "arbiter"]
FIGURES = {"t90_s": "90 %, s", "t95_s": "95 %, s", "mean_norm_loss": "mean norm. loss", "loss_area": "area, s",
           "completion_s": "completion, s", "makespan_s": "makespan, s"}
MOVED = re.compile(r"CacheMover: (\d+) of \d+ cached blocks .* in ([\d.]+) s")


@dataclasses.dataclass
class Moves:
    """What became of the executors of one trial. Seconds."""

    started: int = 0  # executors in all
    leave: list[float] = dataclasses.field(default_factory=list)  # from a lower target until the surplus had gone
    grant: list[float] = dataclasses.field(default_factory=list)  # from a higher target until the Master had given the last
    blocks: int = 0  # cached blocks that moved to new executors
    moving: float = 0.0  # time that took


@dataclasses.dataclass
class Trial:
    policy: str
    repetition: int
    record: record.Record
    moves: Moves
    loading: float  # mean seconds from the submission of an application until its fit begins


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench applications", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file for the figures")
    parser.add_argument("--repetitions", type=at_least(1), default=3, help="trials of each policy, in alternation (default 3)")
    parser.add_argument("--against", nargs="+", choices=AGAINST, default=AGAINST, metavar="POLICY", help=f"what the arbiter is compared with, of {', '.join(AGAINST)} (default all)")
    parser.add_argument("--applications", type=at_least(2), default=5, help="default 5")
    parser.add_argument("--cores", type=at_least(4), default=12, help="that the worker declares (default 12)")
    parser.add_argument("--executor-cores", type=at_least(1), default=1, help="default 1, as the product has it")
    parser.add_argument("--millis", type=at_least(1), default=1000, help="mean emulated time of a task (default 1000)")
    parser.add_argument("--period", type=at_least(1), default=20, help="of the arbiter's rounds, seconds (default 20)")
    parser.add_argument("--load", type=float, default=2.0, help="work that arrives, as a part of what the cores can do (default 2)")
    parser.add_argument("--seed", type=int, default=1, help="draws another schedule (default 1)")
    options = parser.parse_args()
    widths = (options.cores, options.cores + options.cores // 2)
    fits = schedule.schedule(options.applications, options.cores, options.load, options.millis, widths, options.seed)
    draw = random.Random(options.seed)
    trials: list[Trial] = []
    for repetition in range(1, options.repetitions + 1):
        for policy in draw.sample([*options.against, "arbiter"], len(options.against) + 1):
            print(f"repetition {repetition} of {options.repetitions}: {POLICIES[policy]}", file=sys.stderr)
            with tempfile.TemporaryDirectory(prefix="slaq-bench-", ignore_cleanup_errors=True) as folder:
                trials.append(Trial(policy, repetition, *run(policy, fits, options, pathlib.Path(folder))))
    result = summary(fits, trials, options)
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    show(result)


def run(policy: str, fits: list[schedule.Fit], options, folder: pathlib.Path) -> tuple[record.Record, Moves, float]:
    """One trial: every application is submitted at its time, and all end. Raises AssertionError if one fails."""
    spark = Spark(LINE)
    plan = folder / "schedule.tsv"
    plan.write_text(schedule.text(fits))
    apps: list[App] = []
    submitted: list[float] = []
    with Cluster(spark, options.cores, folder) as cluster, Arbiter(spark, folder, cores=options.cores, period=options.period) as arbiter:
        begun = time.time()
        try:
            for fit in fits:
                time.sleep(max(0.0, begun + fit.at - time.time()))
                submitted.append(time.time() - begun)
                own = settings(policy, spark, options) | {"spark.slaq.explain.path": folder / f"{fit.name}.jsonl"}
                apps.append(App(spark, folder, fit.name, "workload.Application", plan, trial.DEPS / "data/small", fit.name,
                                master=cluster.url, arbiter=arbiter if policy == "arbiter" else None, **own))
            for app in apps:
                app.ended(1800)
        finally:
            for app in apps:
                app.stop()
    return gather(fits, submitted, apps, begun, folder)


def settings(policy: str, spark: Spark, options) -> dict:
    conf = {"spark.plugins": f"emulation.EmulatedCores,{PLUGIN}", "spark.jars": spark.jar, "spark.executor.cores": options.executor_cores,
            "spark.default.parallelism": 4}
    if policy != "arbiter":
        # The product only records, so that the figures of all come from the same place; executors leave as under the arbiter.
        conf |= {"spark.slaq.policy": "none", "spark.dynamicAllocation.enabled": "true", "spark.decommission.enabled": "true",
                 "spark.storage.decommission.enabled": "true", "spark.dynamicAllocation.shuffleTracking.enabled": "false",
                 "spark.storage.decommission.replicationReattemptInterval": "1s"}
    if policy == "caps":
        conf["spark.dynamicAllocation.maxExecutors"] = max(1, options.cores // options.executor_cores // options.applications)
    return conf


def gather(fits: list[schedule.Fit], submitted: list[float], apps: list[App], begun: float, folder: pathlib.Path) -> tuple[record.Record, Moves, float]:
    """The applications' records as one, on the clock of the schedule."""
    whole, moves, loading = record.Record({}, [], 0.0, 0.0, 0.0), Moves(), []
    for fit, at, app in zip(fits, submitted, apps):
        output = [line for line in app.out.read_text().splitlines() if "\t" in line]
        start = float(next(line for line in output if line.startswith("start\t")).split("\t")[1]) - begun
        own = record.read(folder / f"{fit.name}.jsonl", output).fits[fit.name]
        if not own.losses:
            raise RuntimeError(f"{fit.name} has no losses:\n{app.log[-3000:]}")
        whole.fits[fit.name] = dataclasses.replace(own, submitted=at, ended=own.ended + start, times=[t + start for t in own.times])
        loading.append(own.submitted + start - at)
        moves.started += len(app.granted())
        leave, grant = app.moves()
        moves.leave += leave
        moves.grant += grant
        for blocks, seconds in MOVED.findall(app.log):
            moves.blocks += int(blocks)
            moves.moving += float(seconds)
    whole.makespan = max(fit.ended for fit in whole.fits.values())
    return whole, moves, statistics.mean(loading)


def summary(fits: list[schedule.Fit], trials: list[Trial], options) -> dict:
    records = [t.record for t in trials]
    scale, horizon = figures.scales(records), max(r.makespan for r in records)
    # The record of the stock policies knows nothing of cores across applications.
    rows = [{"policy": t.policy, "repetition": t.repetition} | {f: round(getattr(figures.of(t.record, scale, horizon), f), 4) for f in FIGURES}
            | {"loading_s": round(t.loading, 4)} | dataclasses.asdict(t.moves) for t in trials]

    def values(policy: str, figure: str) -> list[float]:
        return [row[figure] for row in sorted(rows, key=lambda row: row["repetition"]) if row["policy"] == policy]

    def latency(policy: str, field: str) -> dict:
        seconds = [s for own in values(policy, field) for s in own]
        return {"times": len(seconds)} | ({"median": round(statistics.median(seconds), 3), "max": round(max(seconds), 3)} if seconds else {})

    policies = [p for p in POLICIES if p in options.against or p == "arbiter"]
    return {
        "policies": {p: {f: statistics.median(values(p, f)) for f in (*FIGURES, "loading_s")} for p in policies},
        "arbiter_by": {p: {f: round(statistics.median(a / b for a, b in zip(values("arbiter", f), values(p, f))), 4) for f in FIGURES}
                       for p in options.against},
        "executors": {p: {"started": statistics.mean(values(p, "started")), "leave": latency(p, "leave"), "grant": latency(p, "grant"),
                          "blocks_moved": sum(values(p, "blocks")), "seconds_moving": round(sum(values(p, "moving")), 1)} for p in policies},
        "trials": rows,
        "curve_spread": {name: round(v, 4) for name, v in figures.curve_spread(records, scale).items()},
        "schedule": [dataclasses.asdict(fit) for fit in fits],
        "machine": {"processors": os.cpu_count(), "cores": options.cores, "executor_cores": options.executor_cores, "load": os.getloadavg()[0], "spark": LINE},
    }


def show(result: dict):
    rows: list = [["", *FIGURES.values(), "loading, s", "executors started"], None]
    for policy, own in result["policies"].items():
        rows.append([POLICIES[policy], *(f"{v:.4g}" for v in own.values()), f"{result['executors'][policy]['started']:.1f}"])
    rows.append(None)
    for policy, ratios in result["arbiter_by"].items():
        rows.append([f"the arbiter / {POLICIES[policy]}", *(table.change(v) for v in ratios.values()), "", ""])
    print(table.layout(rows))
    print("times run from the submission of an application; loading: until its fit begins")
    own = result["executors"]["arbiter"]
    for field, words in (("leave", "executors gone after a lower target"), ("grant", "executors given after a higher target")):
        if own[field]["times"]:
            print(f"{words}: median {own[field]['median']:.1f} s, at most {own[field]['max']:.1f} s, {own[field]['times']} times")
    print(f"cached blocks moved to new executors: {own['blocks_moved']}, in {own['seconds_moving']} s together")
    met = all(ratios["t90_s"] <= 0.7 for ratios in result["arbiter_by"].values())
    print(f"target, time to 90 % at least 30 % below {'both' if len(result['arbiter_by']) > 1 else 'it'}: {'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
