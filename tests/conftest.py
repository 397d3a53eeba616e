"""Fixtures of the end-to-end tests: real Spark distributions, real spark-submit, the packaged jar.

`scripts/test` builds the jars and runs pytest with the Python of scripts/setup. Nothing here is mocked: a test gets a
`spark` (one per supported line) and submits a program of tests/apps to it, or starts a standalone cluster on loopback.
"""

import os
import pathlib
import shutil
import signal
import subprocess
from dataclasses import dataclass, field

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEPS = pathlib.Path(
    os.environ.get("SLAQ_DEPS") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "slaq")
)
SCALA = {"3.5": "2.12", "4.2": "2.13"}
PLUGIN = "org.apache.spark.slaq.SlaqPlugin"


@dataclass
class Result:
    """What a submitted program left: exit code, standard output, standard error (Spark's log)."""

    code: int
    out: str
    err: str

    def check(self) -> "Result":
        assert self.code == 0, f"exit code {self.code}\n--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-12000:]}"
        return self

    def lines(self, prefix: str) -> list[str]:
        """Lines of standard output that start with a prefix, without it."""
        return [line[len(prefix):].strip() for line in self.out.splitlines() if line.startswith(prefix)]


@dataclass
class Spark:
    """One Spark line: its distribution, our two jars for it, and how to submit to it."""

    line: str
    java_home: str | None = None
    home: pathlib.Path = field(init=False)
    jar: pathlib.Path = field(init=False)
    test_jar: pathlib.Path = field(init=False)

    def __post_init__(self):
        self.home = (DEPS / f"spark-{self.line}").resolve()
        self.jar = ROOT / f"build/libs/slaq-spark_{SCALA[self.line]}.jar"
        self.test_jar = ROOT / f"build/libs/slaq-test_{SCALA[self.line]}.jar"
        for path in (self.home, self.jar, self.test_jar):
            assert path.exists(), f"{path} is missing: run scripts/test, which sets up and builds first"

    @property
    def short_lived(self) -> str:
        """Options of a JVM that lives for seconds: compiling its code well costs more than it saves, parsing Spark's classes
        (which scripts/setup has archived; a JVM that can't use the archive goes without) even more."""
        # Compiling less shrinks the room for code to 48 MB, which all of MLlib at once fills; the JVM then dies in a task.
        return ("-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC "
                f"-XX:SharedArchiveFile={DEPS}/classes-{self.line}.jsa -Xlog:cds=off -Xlog:cds+dynamic=off")

    def env(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        """The environment of a Spark process: loopback only, no configuration of the machine's own."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        env |= {"SPARK_HOME": str(self.home), "SPARK_SUBMIT_OPTS": self.short_lived, "SPARK_DAEMON_JAVA_OPTS": self.short_lived,
                "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(DEPS / "venv/bin/python"),
                "PYSPARK_DRIVER_PYTHON": str(DEPS / "venv/bin/python"), "PYTHONPATH": f"{self.home}/python:{self.home.parent}:{self.py4j()}"}
        if self.java_home:
            env["JAVA_HOME"] = self.java_home
        return env | (extra or {})

    def py4j(self) -> str:
        return next(str(p) for p in (self.home / "python/lib").glob("py4j-*.zip"))

    def command(self, program: str, *args, master: str = "local[2]", conf: dict | None = None, plugin: bool = True,
                spark_args: tuple[str, ...] = ()) -> list[str]:
        """The spark-submit command line. `program` is a main class of tests/apps or a .py file."""
        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1",
                    "spark.executor.extraJavaOptions": self.short_lived}
        if plugin:
            settings |= {"spark.plugins": PLUGIN, "spark.jars": str(self.jar)}
        settings |= {k: str(v) for k, v in (conf or {}).items() if v is not None}
        command = [str(self.home / "bin/spark-submit"), "--master", master, "--driver-memory", "1g", *spark_args]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        if program.endswith(".py"):
            command += [program]
        else:
            command += ["--class", program, str(self.test_jar)]
        return command + [str(a) for a in args]

    def submit(self, program: str, *args, timeout: float = 240, env: dict[str, str] | None = None, cwd=None, **options) -> Result:
        """Runs a program to its end and returns what it left; see `command` for the options."""
        with subprocess.Popen(self.command(program, *args, **options), env=self.env(env), cwd=cwd, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                out, err = stacks(process)
                raise AssertionError(f"no end within {timeout} s\n{err[-6000:]}\n{out[-30000:]}") from None
        return Result(process.returncode, out, err)


def stacks(process: subprocess.Popen) -> tuple[str, str]:
    """Ends a JVM that hangs; the first of its outputs ends with the stacks of its threads."""
    process.send_signal(signal.SIGQUIT)
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


@pytest.fixture(scope="session", params=sorted(SCALA), ids=lambda line: f"spark-{line}")
def spark(request) -> Spark:
    """Each supported Spark line in turn, on the machine's own Java."""
    return Spark(request.param)


# For tests of what has nothing to do with Spark's version: the newest line alone.
newest = pytest.mark.parametrize("spark", [max(SCALA)], indirect=True, ids=lambda line: f"spark-{line}")


@pytest.fixture(scope="session")
def java25() -> str:
    """JAVA_HOME of a Java 25, where the machine has one."""
    found = os.environ.get("JAVA25_HOME") or next((str(p) for p in sorted(pathlib.Path("/usr/lib/jvm").glob("*25*")) if (p / "bin/java").exists()), None)
    if not found:
        pytest.skip("no Java 25 on this machine (set JAVA25_HOME)")
    return found


@pytest.fixture
def workspace(tmp_path) -> pathlib.Path:
    """A folder that is removed after the test, whatever its outcome: Spark leaves large temporary files."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)
