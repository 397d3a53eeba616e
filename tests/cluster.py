"""A real standalone cluster on loopback: one Master, one Worker that declares as many cores as a test needs."""

import re
import subprocess
import time
from pathlib import Path


class Cluster:
    """`with Cluster(spark, cores=8, folder=tmp_path) as cluster: spark.submit(..., master=cluster.url)`."""

    def __init__(self, spark, cores: int, folder: Path, memory: str = "12g", env: dict[str, str] | None = None):
        self.spark, self.cores, self.folder, self.memory = spark, cores, folder, memory
        self.extra = env or {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.url = ""

    def _start(self, name: str, *args: str) -> None:
        log = open(self.folder / f"{name}.log", "w")
        # A worker's default of 5 s between retries and clean-ups only slows the tests; heaps stay small on small machines.
        env = self.spark.env({"SPARK_DAEMON_MEMORY": "512m", **self.extra})
        self.processes[name] = subprocess.Popen([str(self.spark.home / "bin/spark-class"), *args], env=env, stdout=log, stderr=log, cwd=self.folder)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def _await(self, name: str, pattern: str, seconds: float = 180) -> re.Match:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = re.search(pattern, self.log(name))
            if found:
                return found
            assert self.processes[name].poll() is None, f"{name} ended:\n{self.log(name)[-3000:]}"
            time.sleep(0.1)
        raise AssertionError(f"{name} never printed /{pattern}/:\n{self.log(name)[-3000:]}")

    def __enter__(self) -> "Cluster":
        try:
            self._start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.url = self._await("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)").group(1)
            self._await("master", r"I have been elected leader")
            self.start_worker()
            return self
        except BaseException:
            self.__exit__()
            raise

    def start_worker(self, name: str = "worker") -> None:
        self._start(name, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", str(self.cores),
                    "--memory", self.memory, "--work-dir", str(self.folder / f"{name}-work"), self.url)
        self._await(name, r"Successfully registered with master")

    @property
    def ui(self) -> str:
        """Address of the Master's web page."""
        return self._await("master", r"MasterWebUI.*(http://\S+)").group(1)

    def kill(self, name: str) -> None:
        """kill -9 of a daemon."""
        self.processes[name].kill()
        self.processes[name].wait()

    def __exit__(self, *_) -> None:
        for process in reversed(list(self.processes.values())):
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
