"""Real applications on a real standalone cluster of eight declared cores, planned for by one arbiter."""

import shutil
import subprocess

import pytest

from applications import App
from arbiter import Arbiter, Watch, java, waited
from cluster import Cluster
from conftest import newest

SETTINGS = {"lease": 10, "period": 4, "settle": 1, "dwell": 4, "probation": 1, "expect": 3, "grace": 1, "move_cost": 1}
PARTITIONS = 8
START = 120  # seconds that a driver and its first executor may take where many JVMs share few cores


@pytest.fixture(scope="module")
def cluster(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster")
    with Cluster(spark, cores=8, folder=folder) as cluster:
        yield cluster
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def start(spark, cluster, workspace):
    """Starts applications, and ends those that still run after the test."""
    apps: list[App] = []

    def starts(name: str, *fits: str, millis=150, **options) -> App:
        apps.append(App(spark, workspace, name, "arbiter.SteadyTraining", PARTITIONS, millis, *fits, **{"master": cluster.url} | options))
        return apps[-1]

    yield starts
    for app in apps:
        app.stop()


def test_decisions_about_executors_and_blocks(spark):
    done = subprocess.run(java(spark, "org.apache.spark.slaq.executors.Decisions"), env=spark.env(), text=True, capture_output=True, timeout=180)
    assert done.stdout.splitlines() == ["ok victims", "ok moves", "ok requests", "ok defaults"], done.stdout + done.stderr[-3000:]


def test_executors_follow_the_plan_and_models_stay_the_same(spark, workspace, start):
    plain = start("plain", "svm:50", "kmeans:6", master="local[2]", millis=0)
    with Arbiter(spark, workspace, secret="xyzzy", **SETTINGS) as arbiter, Watch(spark, arbiter) as watch:
        a, b = (start(name, "svm:50", arbiter=arbiter) for name in "ab")
        waited(lambda: a.executors() and b.executors() and a.executors() + b.executors() == 4, START, lambda: f"two share the cores: {a.counts()} {b.counts()}")
        c = start("c", "kmeans:6", arbiter=arbiter)
        for app in (a, b, c):
            app.ended(START)
        seen = watch.seen()
    models = plain.ended(START).models()
    down, up = [], []
    for app in (a, b, c):
        assert not app.trouble(), app.trouble()
        assert app.models() == {kind: pytest.approx(model, rel=1e-9) for kind, model in models.items() if kind in app.models()}
        assert app.lines("cached") == [str(PARTITIONS)], "nothing that was cached was lost"
        for all_moves, moves in zip((down, up), app.moves()):
            all_moves += moves
    assert max(status["promised"] for status in seen) == 8
    assert max(len(status["apps"]) for status in seen) == 3
    # `scripts/bench applications` prints how long moves take. Here many JVMs share few cores: an executor may wait 10 s for its
    # last task, and Spark ends by force, after 20 s, what can't hand over its blocks.
    assert down and up and max(down + up) < 35, (down, up)


@newest
def test_a_wrong_secret_leaves_the_executors_to_spark(spark, workspace, start):
    wrong = workspace / "wrong"
    wrong.touch(mode=0o600)
    wrong.write_text("open sesame\n")
    with Arbiter(spark, workspace, secret="xyzzy", **SETTINGS) as arbiter:
        app = start("stranger", "svm:30", arbiter=arbiter, **{"spark.slaq.arbiter.secret.file": wrong, "spark.slaq.arbiter.timeout": "2s"}).ended(START)
        assert "joins" not in arbiter.log
    assert app.models() and max(n for _, n in app.counts()) == 4
    ours = [line for line in app.trouble() if "ERROR TransportClientFactory" not in line]
    assert len(ours) == 1 and "Nothing was heard of the arbiter" in ours[0], ours
    # Spark logs each failed try, so there must not be many.
    assert len(app.trouble()) < 12, app.trouble()


@newest
def test_deaths_of_driver_arbiter_and_worker(cluster, spark, workspace, start):
    with Arbiter(spark, workspace, cores="auto", master_ui=cluster.ui, **SETTINGS) as arbiter:
        a = start("a", "svm:120", arbiter=arbiter, **{"spark.slaq.arbiter.timeout": "4s"})
        b = start("b", "svm:120", arbiter=arbiter)
        waited(lambda: a.executors() and b.executors(), START, lambda: f"both have executors: {a.counts()} {b.counts()}")
        b.process.kill()
        waited(lambda: a.executors() == 4, START, lambda: f"the dead driver's cores go to the other: {a.counts()}")

        arbiter.kill()
        waited(lambda: "Nothing was heard of the arbiter for 4.0 s" in a.log, START, "it is said once")
        arbiter.start()
        waited(lambda: "answers again" in a.log, START, "and also that it is back")
        assert a.executors() == 4, a.counts()

        cluster.kill("worker")
        waited(lambda: a.executors() == 0, START, lambda: f"the worker's executors are gone: {a.counts()}")
        cluster.start_worker("second")
        waited(lambda: a.executors() == 4, START, lambda: f"others come in their place: {a.counts()}")
        assert arbiter.status()["cores"] == 8, "as the Master says"
        a.ended(START)
        assert a.lines("cached") == [str(PARTITIONS)]
