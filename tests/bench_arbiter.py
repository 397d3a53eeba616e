"""The arbiter alone under load; run by scripts/bench-arbiter."""

import argparse
import json
import os
import pathlib
import tempfile

from arbiter import Arbiter, Drivers
from conftest import SCALA, Spark

TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mib(pid: int) -> float:
    line = next(x for x in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if x.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def measure(options) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        spark = Spark(options.spark)
        with Arbiter(spark, pathlib.Path(folder), cores=4 * options.apps, secret="bench") as arbiter:
            with Drivers(spark, arbiter, apps=options.apps, runs=options.runs, sizes="1.0,0.1,0.01", interval=1000,
                         seconds=options.warm_up + options.seconds, connections=20, threads=40) as drivers:
                for _ in range(options.warm_up):
                    drivers.second()
                start, before = cpu_seconds(arbiter.pid), drivers.seen[-1]["errors"]
                for _ in range(options.seconds):
                    drivers.second()
                cpu = (cpu_seconds(arbiter.pid) - start) / options.seconds
                line = drivers.seen[-1]
                summary = drivers.second()
                return {"apps": options.apps, "runs": options.runs, "seconds": options.seconds, "reports": summary["reports"],
                        "answered": len(line["targets"]), "promised": sum(line["targets"].values()), "cores": 4 * options.apps,
                        "errors": summary["errors"] - before, "p50": summary["p50"], "p99": summary["p99"], "max": summary["max"],
                        "cpu": round(cpu, 3), "memory": round(memory_mib(arbiter.pid), 1), "load": os.getloadavg()[0]}


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench-arbiter")
    parser.add_argument("--apps", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--warm-up", type=int, default=20)
    parser.add_argument("--spark", choices=sorted(SCALA), default="4.2")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    result = measure(options)
    print("| applications | runs each | reports | errors | p50 ms | p99 ms | max ms | arbiter CPU | memory MiB | machine load |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    print("| {apps} | {runs} | {reports} | {errors} | {p50} | {p99} | {max} | {cpu:.0%} of a core | {memory} | {load:.1f} |".format(**result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
