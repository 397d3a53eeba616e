"""An arbiter in a process of its own, run by scripts/arbiter, and drivers that talk to it over the real RPC."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from conftest import ROOT


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def waited(condition, seconds: float, what):
    """The first true value of a condition, or a failure that says what was awaited."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"after {seconds} s: {what() if callable(what) else what}"
        time.sleep(0.1)


class Arbiter:
    """`with Arbiter(spark, folder, cores=8) as arbiter:`, the daemon on that Spark line; options are those of scripts/arbiter."""

    def __init__(self, spark, folder: Path, cores=8, secret: str | None = None, **options):
        self.spark, self.folder, self.port = spark, folder, free_port()
        self.options = {"cores": cores} | options
        self.secret, self.secret_file = secret, None
        if secret:
            self.secret_file = folder / "secret"
            self.secret_file.touch(mode=0o600)
            self.secret_file.write_text(secret + "\n")

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return (self.folder / f"arbiter-{self.port}.log").read_text()

    @property
    def pid(self) -> int:
        return int((self.folder / f"arbiter-{self.port}.pid").read_text())

    def script(self, command: str, *args: str, check: bool = True) -> subprocess.CompletedProcess:
        env = self.spark.env({"SLAQ_JAR": str(self.spark.jar)})
        line = [str(ROOT / "scripts/arbiter"), command, "--port", str(self.port), "--dir", str(self.folder), *args]
        done = subprocess.run(line, env=env, text=True, capture_output=True, timeout=240)
        assert not check or done.returncode == 0, f"{line}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, check: bool = True) -> subprocess.CompletedProcess:
        options = [str(x) for key, value in self.options.items() for x in (f"--{key.replace('_', '-')}", value)]
        return self.script("start", *self._secret(), *options, check=check)

    def _secret(self) -> list[str]:
        return ["--secret-file", str(self.secret_file)] if self.secret_file else []

    def status(self) -> dict:
        return json.loads(self.script("status", "--json", *self._secret()).stdout)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, and wait until the process is gone."""
        pid = self.pid
        os.kill(pid, signal.SIGKILL)
        waited(lambda: not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes(), 10, "the arbiter still lives")

    def __enter__(self) -> "Arbiter":
        self.start()
        return self

    def __exit__(self, *_) -> None:
        try:
            self.kill()
        except (ProcessLookupError, FileNotFoundError):
            pass


class Watch:
    """Reads the arbiter's status all the time; see tests/apps/arbiter/StatusWatch.scala."""

    def __init__(self, spark, arbiter: Arbiter):
        self.file = arbiter.folder / "status.jsonl"
        address = [arbiter.address] + ([arbiter.secret] if arbiter.secret else [])
        self.process = subprocess.Popen(java(spark, "org.apache.spark.slaq.arbiter.StatusWatch", *address), env=spark.env(),
                                        stdout=self.file.open("w"), stderr=subprocess.DEVNULL)

    def seen(self) -> list[dict]:
        # The last line may be half written.
        return [json.loads(line) for line in self.file.read_text().split("\n")[:-1]]

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


class Drivers:
    """Simulated drivers in one JVM of a Spark line; see tests/apps/arbiter/SimulatedDrivers.scala for the options."""

    def __init__(self, spark, arbiter: Arbiter, **options):
        if arbiter.secret and "secret" not in options:
            options["secret"] = arbiter.secret
        options = {"arbiter": arbiter.address} | {k: v for k, v in options.items() if v is not None}
        self.process = subprocess.Popen(
            java(spark, "org.apache.spark.slaq.arbiter.SimulatedDrivers", *[f"{k}={v}" for k, v in options.items()]),
            env=spark.env(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.seen: list[dict] = []

    def second(self) -> dict:
        """The next line: a second later, or the summary at the end."""
        line = self.process.stdout.readline()
        assert line, "the simulated drivers ended"
        self.seen.append(json.loads(line))
        return self.seen[-1]

    def until(self, condition, seconds: int, what: str) -> dict:
        """Reads lines until one fulfils a condition."""
        for _ in range(seconds):
            line = self.second()
            if condition(line):
                return line
        raise AssertionError(f"after {seconds} s: {what}; last {self.seen[-1]}")

    def __enter__(self) -> "Drivers":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()


def java(spark, main: str, *args: str) -> list[str]:
    """A program of the test jar without a Spark application."""
    jars = ":".join(map(str, (spark.jar, spark.test_jar, f"{spark.home}/jars/*")))
    opens = [x for p in ("lang", "nio", "util") for x in ("--add-opens", f"java.base/java.{p}=ALL-UNNAMED")]
    opens += ["--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"]
    return ["java", "-Xmx512m", "-XX:+UseSerialGC", *opens, "-cp", jars, main, *map(str, args)]
