"""A schedule: trainings, when each is submitted, and on how many partitions. The same seed gives the same schedule."""

import dataclasses
import math
import random
import sys
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Fit:
    """One training; the fields are those that the Workload program reads, in its order."""

    name: str
    kind: str
    data: str
    partitions: int
    millis: int  # emulated time of a task; 0: only its own computing
    iterations: int
    at: float  # submitted, seconds after the start
    seed: int


@dataclasses.dataclass(frozen=True)
class Training:
    """An entry of the catalogue."""

    kind: str
    data: str
    iterations: int  # as users choose it: many enough that the end of the curve is flat
    stages: int  # of full width until it ends, as measured; line searches and statistics are among them


# Ten algorithms in fourteen forms, on the public data sets of scripts/datasets.
CATALOGUE = (
    Training("logistic", "late", 25, 30),
    Training("softmax", "digits", 25, 29),
    Training("svc", "late", 20, 48),
    Training("linear", "delay", 25, 30),
    Training("perceptron", "digits", 30, 33),
    Training("kmeans", "digits", 25, 24),
    Training("mixture", "dense", 25, 28),
    Training("boosting", "air", 20, 42),
    Training("factorisation", "late", 30, 32),
    Training("survival", "air", 20, 36),
    Training("svm-sgd", "late", 30, 33),
    Training("logistic-rdd", "digits", 25, 31),
    Training("huber", "delay", 25, 30),
    Training("logistic-l1", "late", 25, 27),
)

# The same kinds, and two more, on other data: the policy's settings are chosen on their curves, not on those of the schedules.
OTHERS = (
    ("logistic", "dense", 25), ("logistic", "cancer", 40), ("softmax", "mnist", 25), ("svc", "dense", 20), ("svc", "cancer", 40),
    ("linear", "air", 25), ("perceptron", "mnist", 30), ("perceptron", "late", 40), ("kmeans", "mnist", 25), ("kmeans", "dense", 25),
    ("kmeans", "late", 20), ("mixture", "cancer", 25), ("boosting", "delay", 20), ("boosting-class", "late", 20),
    ("boosting-class", "cancer", 20), ("factorisation", "dense", 30), ("factorisation-value", "delay", 30), ("survival", "air", 30),
    ("svm-sgd", "dense", 30), ("svm-sgd", "cancer", 40), ("logistic-rdd", "mnist", 25), ("huber", "air", 25),
    ("logistic-l1", "cancer", 25), ("logistic-l1", "dense", 20),
)


def widths(cores: int) -> list[int]:
    """Partitions of data for so many cores: Spark's own default is one a core, its tuning guide advises more."""
    return [round(cores * part) for part in (0.75, 1, 1.5)]


def schedule(fits: int, cores: int, load: float, millis: int, widths: Sequence[int], seed: int) -> list[Fit]:
    """Draws a schedule.

    load: the work that arrives over the time in which it arrives, as a part of what the cores can do in that time;
    above 1 a queue builds up, and runs compete. millis: mean emulated time of a task, 0 for none. widths: numbers of
    partitions to draw from, see `widths` above.
    """
    draw = random.Random(seed)
    chosen: list[Training] = []
    while len(chosen) < fits:
        chosen += draw.sample(CATALOGUE, len(CATALOGUE))
    rows, work = [], 0.0
    for training in chosen[:fits]:
        width, time = draw.choice(widths), round(millis * draw.uniform(0.75, 1.25))
        rows.append((training, width, time))
        work += training.stages * width * (time or REAL_MILLIS) / 1000
    # Poisson arrivals, scaled to the span that the load asks for; the longest gaps are cut.
    gaps = [0.0] + [min(2.5, -math.log(1 - draw.random())) for _ in rows[1:]]
    scale = work / (cores * load) / max(sum(gaps), 1e-9)
    at, fits_ = 0.0, []
    for number, ((training, width, time), gap) in enumerate(zip(rows, gaps), 1):
        at += gap * scale
        name = f"{number:02d}-{training.kind}-{training.data}"
        fits_.append(Fit(name, training.kind, training.data, width, time, training.iterations, round(at, 2), number))
    return fits_


def alone(trainings: Sequence[tuple[str, str, int]], partitions: int, millis: int) -> list[Fit]:
    """Trainings for scripts/record-curves, which runs one after the other."""
    return [Fit(f"{kind}-{data}", kind, data, partitions, millis, iterations, 0.0, seed)
            for seed, (kind, data, iterations) in enumerate(trainings, 1)]


REAL_MILLIS = 30  # what a task computes on the full data sets, roughly


def text(fits: list[Fit]) -> str:
    """As the Workload program reads it: a line a fit, fields separated by tabs."""
    return "".join("\t".join(str(v) for v in dataclasses.astuple(fit)) + "\n" for fit in fits)


if __name__ == "__main__":
    trainings = {"schedule": [(t.kind, t.data, t.iterations) for t in CATALOGUE], "others": OTHERS}[sys.argv[1]]
    print(text(alone(trainings, 12, 40)), end="")
