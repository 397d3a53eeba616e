"""A Spark Connect server with the plugin trains what remote clients ask for, and sees its losses."""

import pathlib
import re
import subprocess

from arbiter import waited
from conftest import DEPS, newest
from explain import Record

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
CLIENT = pathlib.Path(__file__).parent / "apps/scheduling/connect_client.py"


@newest
def test_a_remote_fit_is_a_run(spark, workspace):
    path, log = workspace / "record.jsonl", workspace / "log"
    # Spark's sbin/start-connect-server.sh submits this class too.
    command = spark.command(SERVER, conf={"spark.slaq.explain.path": path, "spark.connect.grpc.binding.port": "0"})
    with log.open("w") as err, subprocess.Popen(command, env=spark.env(), stdout=subprocess.DEVNULL, stderr=err) as server:
        try:
            started = waited(lambda: re.search(r"server started at: \S+:(\d+)", log.read_text(errors="replace")), 120, lambda: log.read_text()[-3000:])
            done = subprocess.run(
                [str(DEPS / "venv/bin/python"), str(CLIENT), f"sc://127.0.0.1:{started[1]}", str(spark.home / "data/mllib/sample_libsvm_data.txt")],
                env=spark.env(), text=True, capture_output=True, timeout=240)
            assert done.returncode == 0, done.stderr[-3000:]
            # The server writes the end of a run before it answers, but not at once.
            (finished,) = waited(lambda: Record(path).kind("finish"), 30, "the run's end is recorded")
        finally:
            server.kill()
    losses = [float(x) for x in re.search(r"^history (.*)$", done.stdout, re.M)[1].split()]
    assert finished["algorithm"] == "LogisticRegression" and finished["outcome"] == "finished"
    assert finished["iterations"] == 8 and finished["loss"] == losses[-1]
