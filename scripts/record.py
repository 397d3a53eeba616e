"""What happened in one trial: the product's own record (spark.slaq.explain.path), by fit, on the clock of the schedule."""

import dataclasses
import json
import math
import pathlib


@dataclasses.dataclass
class Fit:
    """Times are seconds after the start of the schedule."""

    name: str
    submitted: float
    ended: float
    outcome: str = "finished"
    algorithm: str = ""
    times: list[float] = dataclasses.field(default_factory=list)  # of its losses
    losses: list[float] = dataclasses.field(default_factory=list)  # smaller is better
    raw: list[float] = dataclasses.field(default_factory=list)  # as the algorithm states them


@dataclasses.dataclass
class Interval:
    """Between two plans: mean running tasks and planned share of every fit."""

    begin: float
    end: float
    running: dict[str, float]
    share: dict[str, float]


@dataclasses.dataclass
class Record:
    fits: dict[str, Fit]
    intervals: list[Interval]
    makespan: float
    cpu: float  # seconds of processor time of the whole JVM, from the first submission to the last end
    excess: float  # part by which emulated tasks took longer than stated
    dropped: int = 0  # lines that the product could not write in time


def read(path: pathlib.Path, output: list[str]) -> Record:
    """path: the JSON lines. output: what the Workload program printed."""
    said = [line.split("\t") for line in output]
    start = next(float(row[1]) for row in said if row[0] == "start")
    end, cpu, excess = next(map(float, row[1:4]) for row in said if row[0] == "end")
    fits = {row[1]: Fit(row[1], float(row[2]) - start, float(row[3]) - start, row[4]) for row in said if row[0] == "fit"}
    record = Record(fits, [], end - start, cpu, excess)
    sign: dict[int, float] = {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    begin = 0.0
    for line in lines:
        now = line["time"] - start
        if line["kind"] == "start":
            sign[line["run"]] = -1.0 if line["maximise"] else 1.0
        elif line["kind"] == "finish":
            add(record, line, sign, start)
        elif line["kind"] == "plan":
            running: dict[str, float] = {}
            share: dict[str, float] = {}
            for run in line["runs"]:
                add(record, run, sign, start)
                running[run["name"]] = running.get(run["name"], 0.0) + run["running"]
                share[run["name"]] = share.get(run["name"], 0.0) + run.get("share", 0)
            record.intervals.append(Interval(begin, now, running, share))
            begin = now
        elif line["kind"] == "dropped":
            record.dropped += line["lines"]
    return record


def add(record: Record, run: dict, sign: dict[int, float], start: float):
    """Appends a run's new losses to its fit. NaN and infinities, which JSON carries as words, are no progress."""
    fit = record.fits.get(run["name"])
    if fit is None:
        return
    fit.algorithm = run["algorithm"]
    for _, loss, time in run["losses"]:
        turned = sign[run["run"]] * float(loss)
        if math.isfinite(turned):
            fit.times.append(time - start)
            fit.losses.append(turned)
            fit.raw.append(float(loss))
