"""The loss tap over every algorithm of MLlib, on real Spark: exact streams, frames that nest and end, fallbacks."""

import json
import math
from collections import Counter

import pytest

from conftest import Spark

APP = "org.apache.spark.slaq.test.LossApp"


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
    return Told(spark.submit(APP, workloads, conf=conf, timeout=400, **options))


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


def alike(losses: list[float], others: list[float]) -> bool:
    """Of two fits of the same: Spark adds up the partitions of a sum in the order in which they arrive."""
    return losses == pytest.approx(others, rel=1e-6, abs=1e-9)


def check_exact(told: Told) -> None:
    assert told.expected, "the program compared nothing"
    seen = Counter()
    for e in told.expected:
        # Of fits of one name, in contexts one after the other, each is compared with what its own run told.
        named = [run for run in told.runs if run["name"] == e["name"]]
        run = named[seen[e["name"], e["kind"]] % len(named)]
        seen[e["name"], e["kind"]] += 1
        assert same(e["kind"], run["losses"], e["values"], run["progress"]), (e["name"], e["kind"], run["losses"], e["values"], run["progress"])


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
    assert alike(by_name["old-svm"]["losses"], by_name["old-svm-same"]["losses"])
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


# One training for each family of probes.
FAMILIES = ("logistic,linear-normal,svc,perceptron,factorisation,descent,lbfgs,old-svm,old-svm-same,old-logistic,kmeans,kmeans-block,old-kmeans,"
            "mixture,old-mixture,bisecting,lda,lda-em,power,reweighted,boosted,boosted-validated,forest,als,old-als,word2vec,rest,fails")
# Deterministic ones, of different algorithms.
MODELS = "logistic,svc,perceptron,factorisation,kmeans,mixture,boosted,reweighted,als"


def test_java_25(java25):
    told = submit(Spark("4.2", java25), FAMILIES)
    check_exact(told)
    check_frames(told)
    assert {r["tier"] for r in told.runs if r["losses"]} == {"weave"}
    complaints = [line for line in told.log("WARNING: ") if any(word in line for word in ("agent", "restricted", "slaq"))]
    assert not complaints, "the JVM complains of what we do"


def test_models_are_those_of_spark_alone(spark, everything):
    alone = submit(spark, MODELS, plugin=False, conf={"spark.jars": spark.jar})
    assert not alone.runs and not alone.log("SLAQ")
    trained = {m["name"]: m["value"] for m in everything.models if m["what"] == "model"}
    assert len(alone.models) == MODELS.count(",") + 1
    for model in alone.models:
        assert alike(trained[model["name"]], model["value"]), model["name"]


def six_digits(losses: list[float], exact: list[float]) -> bool:
    return len(losses) == len(exact) and all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(losses, exact))


LOGGED = "logistic,svc,kmeans,mixture,reweighted,descent,rest,fails"


def check_logged(told: Told) -> None:
    """Six digits from breeze, which does not print the start; all of them from MLlib's own lines."""
    expected = {(e["name"], e["kind"]): e["values"] for e in told.expected}
    assert six_digits(told.by_name["logistic"]["losses"], expected["logistic", "equal"][1:])
    assert six_digits(told.by_name["svc"]["losses"], expected["svc", "equal"][1:])
    assert told.by_name["kmeans"]["losses"][-1:] == expected["kmeans", "last"]
    assert told.by_name["mixture"]["losses"][-1:] == expected["mixture", "last"]
    assert len(told.by_name["reweighted"]["losses"]) == expected["reweighted", "count"][0]
    assert {r["tier"] for r in told.runs if r["losses"]} == {"log"}
    assert Counter(r["algorithm"] for r in told.children(told.by_name["rest"])) == {"LogisticRegression": 3}
    assert not [r["name"] for r in told.runs if r["open"] or len(r["outcomes"]) != 1]
    assert told.by_name["fails"]["outcomes"] == ["failed"]
    assert set(told.result.lines("PROPERTY ")) == {"null"}


def test_losses_from_the_log(spark):
    told = submit(spark, LOGGED, {"spark.slaq.losses": "log"})
    check_logged(told)
    # What the user sees is as without us: each line once.
    printed = told.log("Val and Grad Norm")
    assert len(printed) == sum(len(r["losses"]) for r in told.runs if r["algorithm"] in ("LogisticRegression", "LinearSVC"))


@pytest.mark.parametrize("flag", ["-XX:-EnableDynamicAgentLoading", "-XX:+DisableAttachMechanism"])
def test_flags_against_agents_are_respected(flag):
    told = submit(Spark("4.2"), LOGGED, {"spark.driver.extraJavaOptions": flag, "spark.log.level": "WARN"})
    check_logged(told)
    assert not told.log("wove loss probes") and not told.log("Val and Grad Norm"), "the user wants warnings alone"


def test_losses_switched_off():
    told = submit(Spark("4.2"), "logistic", {"spark.slaq.losses": "off"})
    assert not told.runs and not told.log("wove loss probes") and told.models


def test_weaving_demanded_but_forbidden_warns():
    told = submit(Spark("4.2"), "logistic", {"spark.driver.extraJavaOptions": "-XX:+DisableAttachMechanism", "spark.slaq.losses": "weave"})
    assert len([line for line in told.log("spark.slaq.losses=weave demands") if "WARN" in line and "DisableAttachMechanism" in line]) == 1
    assert told.by_name == {}


def test_a_class_that_does_not_fit_falls_back_alone(workspace):
    spark = Spark("4.2")
    name = "org.apache.spark.mllib.clustering.KMeans"
    spark.submit("org.apache.spark.slaq.test.DoctorClass", name, "runAlgorithmWithWeight", workspace, plugin=False).check()
    told = submit(spark, "logistic,kmeans,kmeans-block,old-kmeans,mixture", {"spark.driver.extraClassPath": workspace})
    check_exact_but = [e for e in told.expected if e["name"] not in ("kmeans", "old-kmeans")]
    assert all(same(e["kind"], told.by_name[e["name"]]["losses"], e["values"], None) for e in check_exact_but)
    expected = {(e["name"], e["kind"]): e["values"] for e in told.expected}
    assert told.by_name["kmeans"]["tier"] == "log" and told.by_name["kmeans"]["losses"][-1:] == expected["kmeans", "last"]
    assert told.by_name["logistic"]["tier"] == told.by_name["mixture"]["tier"] == "weave"
    warned = [line for line in told.log("SLAQ leaves") if name in line]
    assert len(warned) == 1 and "found 2 times instead of 1" in warned[0]


def test_two_contexts_in_one_jvm(spark):
    told = submit(spark, "restart")
    assert Counter(r["name"] for r in told.runs) == {"logistic": 2, "kmeans": 2}
    assert all(r["outcomes"] == ["finished"] and r["tier"] == "weave" for r in told.runs)
    for name in ("logistic", "kmeans"):
        first, second = [r for r in told.runs if r["name"] == name]
        assert alike(first["losses"], second["losses"]) and len(first["losses"]) > 3
    check_exact(told)
    assert len(told.log("wove loss probes into")) == 1


def test_context_stopped_in_the_middle_of_a_fit(spark):
    told = submit(spark, "stop")
    assert told.result.lines("STOPPED ")
    (run,) = told.runs
    assert run["outcomes"] in (["failed"], ["abandoned"]) and not run["open"] and len(run["losses"]) >= 3


def test_classes_that_were_loaded_before_are_woven_too(spark):
    told = submit(spark, "early")
    check_exact(told)
    assert {r["tier"] for r in told.runs} == {"weave"}
