"""The loss tap over every algorithm of MLlib, on real Spark: exact streams, frames that nest and end, fallbacks."""

import json
import math
from collections import Counter

import pytest

from conftest import Spark

APP = "org.apache.spark.slaq.test.LossApp"
PLUGIN = "org.apache.spark.slaq.test.LossPlugin"
META = {"Pipeline", "CrossValidator", "TrainValidationSplit", "OneVsRest"}


class Told:
    """What a LossApp printed."""

    def __init__(self, result):
        self.result = result.check()
        self.runs = [json.loads(line) for line in result.lines("RUN ")]
        self.expected = [json.loads(line) for line in result.lines("EXPECT ")]
        self.models = [json.loads(line) for line in result.lines("MODEL ")]
        self.by_name = {run["name"]: run for run in self.runs}

    def children(self, run):
        return [r for r in self.runs if r["parent"] == run["id"]]

    def log(self, text: str) -> list[str]:
        return [line for line in self.result.err.splitlines() if text in line]


def submit(spark: Spark, workloads: str, conf: dict | None = None, **options) -> Told:
    return Told(spark.submit(APP, workloads, conf={"spark.plugins": PLUGIN} | (conf or {}), timeout=400, **options))


def same(kind: str, losses: list[float], expected: list[float], progress) -> bool:
    match kind:
        case "equal":
            return losses == expected
        case "close":
            return len(losses) == len(expected) and all(math.isclose(a, b, rel_tol=1e-12) for a, b in zip(losses, expected))
        case "prefix":  # a model keeps its best trees only
            return len(losses) >= len(expected) and all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(losses, expected))
        case "last":
            return losses[-1:] == expected
        case "last-close":
            return bool(losses) and math.isclose(losses[-1], expected[0], rel_tol=1e-9)
        case "count":
            return len(losses) == expected[0]
        case "progress":
            return not losses and progress == [expected[0], expected[0]]
    raise ValueError(kind)


def check_exact(told: Told) -> None:
    assert told.expected, "the program compared nothing"
    wrong = [(e["name"], e["kind"], told.by_name[e["name"]]["losses"][:3], e["values"][:3], told.by_name[e["name"]]["progress"])
             for e in told.expected
             if not same(e["kind"], told.by_name[e["name"]]["losses"], e["values"], told.by_name[e["name"]]["progress"])]
    assert not wrong


def check_frames(told: Told) -> None:
    assert not [r["name"] for r in told.runs if r["open"]]
    assert not [r["name"] for r in told.runs if len(r["outcomes"]) != 1]
    assert {r["name"] for r in told.runs if r["outcomes"] != ["finished"]} == {"fails"}
    assert not [r["name"] for r in told.runs if r["iterations"] != sorted(set(r["iterations"]))]
    assert not [r["name"] for r in told.runs if r["losses"] and (r["meta"] or not r["hasLoss"])]
    assert not [r["name"] for r in told.runs if r["maxIterations"] and len(r["losses"]) > r["maxIterations"] + 1]
    # Every thread has its local property back, though its fits ended in all possible ways.
    assert set(told.result.lines("PROPERTY ")) == {"null"}


@pytest.fixture(scope="module")
def everything(spark) -> Told:
    """All algorithms, four fits at a time."""
    return submit(spark, "all")


def test_losses_are_exact(everything):
    check_exact(everything)


def test_runs_begin_and_end(everything):
    check_frames(everything)
    failed = everything.by_name["fails"]
    assert failed["outcomes"] == ["failed"] and failed["algorithm"] == "LogisticRegression"


def test_a_line_names_the_woven_classes(everything):
    woven = everything.log("wove loss probes into")
    assert len(woven) == 1 and "breeze.optimize.FirstOrderMinimizer$State" in woven[0] and " ms: " in woven[0]
    assert not everything.log("further failures are silent")
    assert not everything.log("A Java agent has been loaded")
    assert {r["tier"] for r in everything.runs if r["losses"]} == {"weave"}


def test_runs_nest(everything):
    rest = everything.by_name["rest"]
    assert rest["algorithm"] == "OneVsRest" and rest["meta"]
    assert Counter(r["algorithm"] for r in everything.children(rest)) == {"LogisticRegression": 3}

    validator = everything.by_name["validator"]
    pipelines = everything.children(validator)
    assert Counter(r["algorithm"] for r in pipelines) == {"Pipeline": 5}, "2 folds x 2 settings, and the best one again"
    for pipeline in pipelines:
        inner = everything.children(pipeline)
        assert [r["algorithm"] for r in inner] == ["LogisticRegression"] and len(inner[0]["losses"]) >= 2
        assert inner[0]["name"].startswith("validator/")

    split = everything.by_name["split"]
    assert Counter(r["algorithm"] for r in everything.children(split)) == {"GBTRegressor": 3}

    nested = {r["id"] for r in everything.runs if r["parent"]}
    inside = {c["id"] for outer in (rest, validator, split, *pipelines) for c in everything.children(outer)}
    assert nested - inside == set(), "parents that are none"


def test_jobs_carry_their_run(everything):
    for run in everything.runs:
        if run["losses"] and run["algorithm"] not in ("GBTRegressor", "GBTClassifier", "GradientBoostedTrees"):
            assert run["jobs"] >= len(run["losses"]) - 1, run["name"]
        elif not run["meta"] and run["outcomes"] == ["finished"]:
            assert run["jobs"] >= 1, run["name"]


def test_what_is_known_of_a_run(everything):
    by_name = everything.by_name
    assert by_name["mixture"]["maximise"] and not by_name["kmeans"]["maximise"]
    assert (by_name["logistic"]["maxIterations"], by_name["logistic"]["tolerance"], by_name["logistic"]["scale"]) == (20, 1e-6, "mean")
    assert by_name["old-svm"]["algorithm"] == "SVMWithSGD" and by_name["old-svm"]["scale"] == "stochastic"
    assert by_name["old-svm"]["losses"] == by_name["old-svm-same"]["losses"]
    assert by_name["old-kmeans"]["algorithm"] == "KMeans" and by_name["power"]["algorithm"] == "PowerIterationClustering"
    assert by_name["old-lbfgs-delegating"]["algorithm"] == "LogisticRegression" and by_name["old-lbfgs-delegating"]["losses"]
    assert by_name["old-lbfgs"]["algorithm"] == "LogisticRegressionWithLBFGS" and by_name["old-lbfgs"]["losses"]
    assert [by_name[n]["scale"] for n in ("boosted", "boosted-half", "boosted-classes", "boosted-validated")] == ["mean", "stochastic", "proxy", "mean"]
    streamed = [r for r in everything.runs if r["name"] == "streaming"]
    assert len(streamed) >= 2 and all(len(r["losses"]) == 4 for r in streamed)
    falling = [r for r in everything.runs if r["losses"] and r["scale"] in ("mean", "sum", "proxy") and r["outcomes"] == ["finished"]]
    for run in falling:
        gain = (run["losses"][-1] - run["losses"][0]) * (1 if run["maximise"] else -1)
        assert gain >= 0, run["name"]
