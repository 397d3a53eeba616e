"""Applications that train on a standalone cluster, each in a driver of its own."""

import re
import subprocess
from pathlib import Path

from arbiter import Arbiter
from conftest import PLUGIN, ROOT

TROUBLE = re.compile(r"^\d+ (?:WARN|ERROR) .*$", re.M)
# What Spark says by itself: of a machine like this,
USUAL = re.compile(r"NativeCodeLoader|Utils: (?:Your hostname|Set SPARK_LOCAL_IP)|InstanceBuilder|BLAS|LAPACK"
                   r"|Initial job has not accepted any resources"  # (after 15 s without an executor, which takes long to start here)
                   # and of messages, blocks and broadcasts whose executor has just left, which it forgets or finds elsewhere.
                   # What its scheduler says, of lost tasks and executors above all, is our affair.
                   r"|(?:WARN|ERROR) (?:ShuffleStatus|MapOutputTracker\w*|BlockManager\w*|ContextCleaner|Transport(?:Client|\w+Handler)|Inbox|Outbox|Dispatcher):"
                   r"|unknown shuffle|(?:remov|clean)\w*(?: block)? broadcast")


class App:
    """A program of tests/apps that runs in the background, with emulated cores, and prints how many executors it has."""

    def __init__(self, spark, folder: Path, name: str, program: str, *args, master: str, arbiter: Arbiter | None = None, **conf):
        settings = {"spark.app.name": name, "spark.executor.memory": "512m", "spark.executor.cores": "2",
                    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{ROOT}/tests/log4j2.properties",
                    "spark.plugins": "emulation.EmulatedCores" + (f",{PLUGIN}" if arbiter else "")}
        if arbiter:
            settings |= {"spark.jars": spark.jar, "spark.slaq.arbiter": arbiter.address, "spark.slaq.arbiter.interval": "500ms",
                         "spark.slaq.arbiter.secret.file": arbiter.secret_file}
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        command = spark.command(program, *args, master=master, plugin=False, conf=settings | conf)
        self.process = subprocess.Popen(command, env=spark.env(), cwd=folder, stdout=self.out.open("w"), stderr=self.err.open("w"))

    @property
    def log(self) -> str:
        return self.err.read_text(errors="replace")

    def counts(self) -> list[tuple[float, int]]:
        """When (seconds since 1970) there were how many executors."""
        return [(int(t) / 1e3, int(n)) for t, n in re.findall(r"^executors (\d+) (\d+)$", self.out.read_text(), re.M)]

    def executors(self) -> int:
        counts = self.counts()
        return counts[-1][1] if counts else 0

    def targets(self) -> list[tuple[float, int | None]]:
        """When the application was told how many executors to have; None where that is at most a bound."""
        found = re.findall(r"^(\d+) INFO SchedulerBackendShim: Executors: .*? -> (?:Exactly\((\d+)\)|\S+),", self.log, re.M)
        return [(int(t) / 1e3, int(n) if n else None) for t, n in found]

    def granted(self) -> list[float]:
        """When the Master gave it an executor."""
        return [int(t) / 1e3 for t in re.findall(r"^(\d+) INFO StandaloneAppClient\$ClientEndpoint: Executor added:", self.log, re.M)]

    def moves(self) -> tuple[list[float], list[float]]:
        """Seconds from a lower target until the surplus executors had gone, and from a higher one until the Master gave the last."""
        down, up = [], []
        targets, counts, granted = self.targets(), self.counts(), self.granted()
        for (at, target), (until, _) in zip(targets, targets[1:] + [(counts[-1][0] + 1, None)]):
            before = max((c for c in counts if c[0] <= at), default=(at, 0))[1]
            reached = [t for t, n in counts if at < t <= until and target is not None and (n <= target if target < before else n >= target)]
            if target is None or target == before or not reached:
                continue
            if target < before:
                down.append(reached[0] - at)
            else:
                up.append(max(0.0, max(t for t in granted if t <= reached[0]) - at))
        return down, up

    def lines(self, prefix: str) -> list[str]:
        return re.findall(rf"^{prefix} (.*)$", self.out.read_text(), re.M)

    def models(self) -> dict[str, list[float]]:
        return {kind: [float(x) for x in rest] for kind, *rest in map(str.split, self.lines("model"))}

    def trouble(self) -> list[str]:
        return [line for line in TROUBLE.findall(self.log) if not USUAL.search(line)]

    def ended(self, seconds: float) -> "App":
        assert self.process.wait(timeout=seconds) == 0, self.log[-6000:]
        return self

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
