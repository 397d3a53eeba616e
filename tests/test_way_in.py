"""The plugin comes in by spark.plugins and the jar alone, wherever Spark runs, and changes no model."""

import re
import subprocess

import pytest

from cluster import Cluster
from conftest import DEPS, PLUGIN
from explain import Record

APP = "org.apache.spark.slaq.tests.WayIn"
LISTENER = "org.apache.spark.slaq.SlaqListener"
PYTHON = str(__import__("pathlib").Path(__file__).parent / "apps/scheduling/way_in.py")

# Spark's own launcher passes these to the driver everywhere but in standalone cluster mode, where Java 17 needs them.
OPENS = " ".join(f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent",
    "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"))


def models(out: str) -> dict[str, list[float]]:
    found = re.findall(r"^model (\w+) (.*)$", out, re.M)
    return {name: [float(x) for x in numbers.split()] for name, numbers in found}


@pytest.fixture(scope="module")
def stock(spark):
    """Without the plugin."""
    done = spark.submit(APP, master="local[4]", plugin=False).check()
    assert done.lines("scheduler ") == ["TaskSchedulerImpl"]
    return models(done.out)


def check_models(out: str, stock: dict, count: int = 6):
    trained = models(out)
    assert len(trained) == count
    for name, numbers in trained.items():
        assert numbers == pytest.approx(stock[name], rel=1e-9, abs=1e-9), name


def test_local(spark, stock, workspace):
    path = workspace / "record.jsonl"
    done = spark.submit(APP, master="local[4]", conf={"spark.slaq.explain.path": path}).check()
    assert done.lines("scheduler ") == ["SlaqTaskScheduler"]
    assert done.lines("master ") == ["local[4]"]
    assert done.lines("mode ") == ["FAIR"]
    assert done.lines("plugins ") == [""], "executors are not asked to load the plugin"
    check_models(done.out, stock)
    finished = Record(path).kind("finish")
    assert len(finished) == 6 and all(run["outcome"] == "finished" and run["iterations"] > 0 for run in finished)
    assert "Run 1 (LogisticRegression" in done.err and re.search(r"finished after .* a mean share of [\d.]+ cores", done.err)


def test_local_with_failures_and_settings_of_the_user(spark, stock):
    done = spark.submit(APP, "one", master="local[2,3]", conf={
        "spark.scheduler.mode": "FIFO", "spark.locality.wait.node": "1s"}).check()
    assert (done.lines("mode "), done.lines("wait ")) == (["FIFO"], ["unset"])
    check_models(done.out, stock, 1)


def test_policy_none_and_disabled_leave_spark_alone(spark, stock, workspace):
    path = workspace / "record.jsonl"
    done = spark.submit(APP, "one", master="local[2]", conf={"spark.slaq.policy": "none", "spark.slaq.explain.path": path}).check()
    assert (done.lines("mode "), done.lines("wait ")) == (["FIFO"], ["unset"])
    check_models(done.out, stock, 1)
    assert Record(path).kind("finish")[0]["coreSeconds"] > 0
    done = spark.submit(APP, "one", master="local[2]", conf={"spark.slaq.enabled": "false"}).check()
    assert done.lines("scheduler ") == ["TaskSchedulerImpl"]


@pytest.fixture(scope="module")
def cluster(spark, tmp_path_factory):
    with Cluster(spark, cores=4, folder=tmp_path_factory.mktemp("cluster"), memory="4g") as started:
        yield started


def test_standalone_client_mode_without_the_jar_on_executors(spark, stock, cluster):
    done = spark.submit(APP, master=cluster.url, conf={
        "spark.jars": None, "spark.driver.extraClassPath": spark.jar, "spark.executor.memory": "1g"}).check()
    assert done.lines("scheduler ") == ["SlaqTaskScheduler"]
    assert done.lines("backend ") == ["StandaloneSchedulerBackend"]
    check_models(done.out, stock)


def test_standalone_cluster_mode(spark, stock, cluster):
    spark.submit(APP, "one", master=cluster.url, spark_args=("--deploy-mode", "cluster"), conf={
        "spark.driver.extraJavaOptions": OPENS, "spark.executor.memory": "1g", "spark.standalone.submit.waitAppCompletion": "true"})
    (out,) = (cluster.folder / "worker-work").glob("driver-*/stdout")
    assert "scheduler SlaqTaskScheduler" in out.read_text(), out.with_name("stderr").read_text()[-4000:]
    check_models(out.read_text(), stock, 1)


def test_pyspark_submitted(spark):
    done = spark.submit(PYTHON, master="local[2]").check()
    assert done.lines("scheduler ") == ["SlaqTaskScheduler"] and done.lines("model ")


def test_python_program_that_makes_its_own_session(spark):
    done = subprocess.run(
        [str(DEPS / "venv/bin/python"), PYTHON, "spark.master=local[2]", f"spark.plugins={PLUGIN}", f"spark.jars={spark.jar}",
         "spark.ui.enabled=false", "spark.driver.host=127.0.0.1"], env=spark.env(), text=True, capture_output=True, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "scheduler SlaqTaskScheduler" in done.stdout and "model " in done.stdout


def test_shell(spark):
    script = 'println("mode " + sc.getSchedulingMode)\nprintln("sum " + sc.range(0, 10).sum())\n'
    done = subprocess.run(
        [str(spark.home / "bin/spark-shell"), "--master", "local[2]", "--driver-memory", "1g", "--conf", f"spark.plugins={PLUGIN}",
         "--conf", f"spark.jars={spark.jar}", "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1"],
        input=script, env=spark.env({"TERM": "dumb"}), text=True, capture_output=True, timeout=240)
    assert re.search(r"mode FAIR", done.stdout) and "sum 45.0" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


def test_unsupported_spark_says_so_and_schedules_as_usual(spark):
    """The jar of one line on the other stands for a Spark that this jar was not built for."""
    other = next(j for j in spark.jar.parent.glob("slaq-spark_*.jar") if j != spark.jar)
    done = spark.submit(APP, "one", master="local[2]", conf={"spark.jars": other, "spark.extraListeners": LISTENER}).check()
    assert done.lines("scheduler ") == ["TaskSchedulerImpl"]
    said = [line for line in done.err.splitlines() if "SLAQ" in line]
    assert len(said) == 2 and all(re.search(r"supports Spark [\d., ]+ with this jar, not \d", line) for line in said), said
    assert "schedules as usual" in said[0] and "does not record" in said[1]


def test_listener_records_where_plugins_cannot_be_used(spark, stock, workspace):
    path = workspace / "record.jsonl"
    done = spark.submit(APP, "one", master="local[2]", plugin=False, conf={
        "spark.jars": spark.jar, "spark.extraListeners": LISTENER, "spark.slaq.explain.path": path}).check()
    assert done.lines("scheduler ") == ["TaskSchedulerImpl"]
    check_models(done.out, stock, 1)
    (finished,) = Record(path).kind("finish")
    assert finished["outcome"] == "finished" and finished["iterations"] > 0


def test_yarn_goes_to_its_own_manager(spark):
    """There is no ResourceManager: that its client looks for one shows who was asked."""
    command = spark.command(APP, "one", master="yarn", conf={
        "spark.hadoop.yarn.resourcemanager.address": "127.0.0.1:1", "spark.hadoop.yarn.resourcemanager.connect.max-wait.ms": "1000",
        "spark.hadoop.yarn.resourcemanager.connect.retry-interval.ms": "500", "spark.hadoop.ipc.client.connect.max.retries": "1"})
    done = subprocess.run(command, env=spark.env({"HADOOP_CONF_DIR": "/nonexistent"}), text=True, capture_output=True, timeout=240)
    assert done.returncode != 0
    assert "YarnClientSchedulerBackend" in done.stderr and "Connection refused" in done.stderr, done.stderr[-4000:]
    assert "SLAQ can't extend" not in done.stderr and "does not know" not in done.stderr
