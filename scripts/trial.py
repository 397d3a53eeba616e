"""A trial: one schedule under one policy, in a Spark driver of its own."""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import record
import schedule

ROOT = pathlib.Path(os.environ["SLAQ_ROOT"])
DEPS = pathlib.Path(os.environ["SLAQ_DEPS"])
SCALA = {"3.5": "2.12", "4.2": "2.13"}
PLUGIN = "org.apache.spark.slaq.SlaqPlugin"

# What a policy sets. Stock scheduling runs with the product's taps and record, but its scheduler left alone.
POLICIES = {
    "fifo": {"spark.slaq.policy": "none", "spark.scheduler.mode": "FIFO"},
    "fair": {"spark.slaq.policy": "none", "spark.scheduler.mode": "FAIR"},
    "equal": {"spark.slaq.policy": "equal"},
    "las": {"spark.slaq.policy": "las"},
    "progress": {"spark.slaq.policy": "progress"},
    "slaq-2017": {"spark.slaq.policy": "slaq-2017"},
    "slaq": {"spark.slaq.policy": "quality"},
    "oracle": {"spark.slaq.policy": "oracle"},
}


@dataclasses.dataclass(frozen=True)
class Machine:
    """What a trial runs on: declared cores, whether tasks are lengthened, which flavour of the data."""

    cores: int
    emulated: bool
    data: str = "small"
    memory: str = "5g"
    line: str = "4.2"


def run(policy: str, fits: list[schedule.Fit], machine: Machine, folder: pathlib.Path, title: str,
        conf: dict[str, str] | None = None, timeout: float = 600) -> record.Record:
    """Runs the schedule to its end and returns what happened.

    folder: gets the schedule, the record and Spark's log. If it holds a finished trial of the same schedule, that one is
    read, so that a long bench can be taken up again. Raises RuntimeError, with the end of the log, if Spark fails, a fit
    fails, the product gives up, or the time is up.
    """
    lines, log, printed = folder / "record.jsonl", folder / "spark.log", folder / "output.tsv"
    plan = schedule.text(fits)
    if printed.exists() and (folder / "schedule.tsv").read_text() == plan:
        return record.read(lines, printed.read_text().splitlines())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "schedule.tsv").write_text(plan)
    plugins = [PLUGIN] + (["emulation.EmulatedCores"] if machine.emulated else [])
    settings = {
        "spark.plugins": ",".join(plugins), "spark.jars": str(product_jar(machine.line)), "spark.slaq.explain.path": str(lines),
        # Aggregations by key end in this many tasks, not in as many as the data has partitions.
        "spark.default.parallelism": "8",
    }
    command = submit("workload.Workload", machine, settings | POLICIES[policy] | (conf or {}), folder)
    command += [str(folder / "schedule.tsv"), str(DEPS / "data" / machine.data)]
    if policy == "fair":
        command.append("pools")
    with log.open("w") as err:
        process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=err, text=True, start_new_session=True)
        output = watch(process, len(fits), title, timeout)
    shown = log.read_text(errors="replace")[-6000:]
    failed = [row.split("\t")[1] for row in output if row.startswith("fit\t") and row.rstrip().endswith("failed")]
    if process.returncode != 0 or failed:
        raise RuntimeError(f"{title}: exit code {process.returncode}, failed fits: {failed or 'none'}\n{shown}")
    # A trial whose product gave up halfway would be a figure of plain Spark.
    if trouble := re.findall(r"^.*(?:SLAQ plans no more|SLAQ is off|SLAQ can't).*$", log.read_text(errors="replace"), re.M):
        raise RuntimeError(f"{title}: {trouble[0]}")
    for scratch in ("tmp", "warehouse"):
        shutil.rmtree(folder / scratch, ignore_errors=True)
    printed.write_text("\n".join(output) + "\n")
    return record.read(lines, output)


def submit(main: str, machine: Machine, conf: dict[str, str], folder: pathlib.Path) -> list[str]:
    """The spark-submit command of a program of tests/apps, without its arguments. folder: for Spark's own scratch files."""
    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.shuffle.partitions": "4",
        "spark.local.dir": str(folder / "tmp"), "spark.sql.warehouse.dir": str(folder / "warehouse"),
    } | conf
    command = [str(DEPS / f"spark-{machine.line}/bin/spark-submit"), "--master", f"local[{machine.cores}]",
               "--driver-memory", machine.memory, "--class", main]
    if machine.emulated:
        # Where the cores are emulated, computing is small and compiling it well costs more than it saves; two processors
        # have to carry it all. Compiling less shrinks the room for code to 48 MB, which many algorithms at once may fill.
        command += ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC"]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    return command + [str(test_jar(machine.line))]


def environment() -> dict[str, str]:
    """Of a Spark process: no configuration of the machine's own, loopback only."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))} | {"SPARK_LOCAL_IP": "127.0.0.1"}


def product_jar(line: str) -> pathlib.Path:
    return ROOT / f"build/libs/slaq-spark_{SCALA[line]}.jar"


def test_jar(line: str) -> pathlib.Path:
    return ROOT / f"build/libs/slaq-test_{SCALA[line]}.jar"


def watch(process: subprocess.Popen, fits: int, title: str, timeout: float) -> list[str]:
    """Collects standard output, showing progress on one line; ends the process if it takes too long or we are stopped."""
    output: list[str] = []
    begun = time.monotonic()
    # Being asked to end must end Spark too: it runs in a session of its own, so that all of it can be ended at once.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    reader = threading.Thread(target=lambda: output.extend(iter(process.stdout.readline, "")), daemon=True)
    reader.start()
    started = None
    try:
        while process.poll() is None:
            now = time.monotonic()
            if now - begun > timeout:
                raise RuntimeError(f"{title}: not finished after {timeout:.0f} s")
            if started is None and any(line.startswith("start\t") for line in output):
                started = now
            ended = sum(line.startswith("fit\t") for line in list(output))
            state = f"{now - started:4.0f} s, {ended} of {fits} fits ended" if started else f"{now - begun:4.0f} s, warming up"
            progress(f"{title}: {state}", now)
            time.sleep(0.5)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        reader.join(5)
        progress("", None)
    return [line.rstrip("\n") for line in output]


def progress(text: str, now: float | None):
    """One line that is written over on a terminal, else a line every 20 seconds. `now` None: the trial is over."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K" + text)
    elif now is not None and now >= progress.next:
        sys.stderr.write(text + "\n")
        progress.next = now + 20
    sys.stderr.flush()


progress.next = 0.0


def write_oracle(path: pathlib.Path, found: record.Record):
    """The curves of a trial, as the oracle reads them: losses by name, as the algorithms state them."""
    path.write_text(json.dumps({name: fit.raw for name, fit in found.fits.items() if fit.raw}))
