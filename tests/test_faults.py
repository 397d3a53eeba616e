"""Whatever goes wrong, the user's job ends as it would without the plugin, or a wrong setting is named at the start."""

import re

import pytest

from cluster import Cluster
from conftest import newest
from explain import Record

WAY_IN = "org.apache.spark.slaq.tests.WayIn"


@pytest.fixture(scope="module")
def faults(spark, tmp_path_factory):
    """All faults that one JVM can have, one SparkContext after the other."""
    folder = tmp_path_factory.mktemp("faults")
    done = spark.submit("org.apache.spark.slaq.tests.Faults", folder, master="local[4]").check()
    return done, {path.stem: Record(path) for path in folder.glob("*.jsonl")}


@pytest.mark.parametrize("key, value, allowed", [
    ("enabled", "maybe", "true or false"), ("losses", "perhaps", "auto, weave, log or off"), ("policy", "best", "quality"),
    ("epoch", "0", "10ms to 1h"), ("lend.delay", "soon", "-1 never"), ("fairness", "2", "0 to 1"), ("floor", "0", "1 to"),
    ("weight", "-1", "above 0"), ("colour", "red", "fairness")])
def test_wrong_settings_are_named(faults, key, value, allowed):
    (message,) = faults[0].lines(f"refused {key}:")
    assert f"spark.slaq.{key}" in message and value in message and allowed in message, message


def test_a_fit_that_throws_ends_its_run_alone(faults):
    done, records = faults
    assert done.lines("failed with ") == ["true"]
    assert records["failing"].run("finish", "throws")["outcome"] == "failed"
    assert records["failing"].run("finish", "returns too")["outcome"] == "finished"


def test_losses_that_are_no_numbers(faults):
    record = faults[1]["failing"]
    exploded = record.run("finish", "explodes")
    assert exploded["outcome"] == "finished" and exploded["loss"] in ("NaN", "Infinity", "-Infinity")
    assert record.run("finish", "sound")["outcome"] == "finished"
    assert "plans no more" not in faults[0].err


def test_context_stopped_in_the_middle_of_a_fit(faults):
    done, records = faults
    assert done.lines("fit ended ") == ["true"]
    assert records["stopped"].run("finish", "cut short")["outcome"] in ("abandoned", "failed")
    assert records["crowd"].kind("application"), "the next context of the JVM is scheduled too"


def test_two_hundred_fits_on_four_cores(faults):
    done, records = faults
    assert done.lines("crowd ") == ["200"]
    finished = [run for run in records["crowd"].kind("finish")]
    assert len(finished) == 200 and {run["outcome"] for run in finished} == {"finished"}
    assert all(sum(r.get("share", 0) for r in plan["runs"]) <= 4 for plan in records["crowd"].kind("plan"))


@newest
def test_missing_library(spark, workspace):
    done = spark.submit(WAY_IN, "one", master="local[2]", conf={"spark.slaq.native.path": workspace / "none.so"}).check()
    assert done.lines("scheduler ") == ["TaskSchedulerImpl"] and done.lines("model ")
    said = [line for line in done.err.splitlines() if "SLAQ" in line]
    assert len(said) == 1 and "Spark schedules as usual" in said[0] and "none.so" in said[0], said


@newest
def test_record_that_cannot_be_written(spark, workspace):
    done = spark.submit(WAY_IN, "one", master="local[2]", conf={"spark.slaq.explain.path": workspace / "no/such/folder"}).check()
    assert done.lines("scheduler ") == ["SlaqTaskScheduler"] and done.lines("model ")
    assert "there will be no record" in done.err


def test_killed_executor_with_speculation_on(spark, workspace):
    path = workspace / "record.jsonl"
    with Cluster(spark, cores=4, folder=workspace, memory="4g") as cluster:
        done = spark.submit("org.apache.spark.slaq.tests.LostExecutor", master=cluster.url, conf={
            "spark.executor.cores": 2, "spark.executor.memory": "1g", "spark.speculation": "true", "spark.speculation.multiplier": 3,
            "spark.slaq.explain.path": path}).check()
    assert done.lines("scheduler ") == ["SlaqTaskScheduler"]
    assert done.lines("same ") == ["true", "true"]
    cores = [plan["cores"] for plan in Record(path).kind("plan")]
    assert 4 in cores and re.search("42+4", "".join(map(str, cores))), f"cores went down and up again: {cores}"
