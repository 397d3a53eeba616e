"""The native library on a real JVM: calls and refusals, panics, every way in which loading fails, and class redefinition.

Programs are started by plain `java` on the packaged jar and Spark's own, from an empty folder; those of the fallback
with a whole application are in the tests of the plugin.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import pytest

from conftest import ROOT, Result, Spark

APP = "org.apache.spark.slaq.engine.NativeApp"


def java(spark: Spark, cwd: pathlib.Path, *args, main: str = APP, jar: pathlib.Path | None = None, with_jar: bool = True,
         java_home: str | None = None, properties: dict | None = None, env: dict | None = None) -> Result:
    """Runs a main class of the test jar with the packaged jar on the class path."""
    jars = [str(jar or spark.jar)] if with_jar else []
    command = [f"{java_home}/bin/java" if java_home else "java", "-Xmx512m", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    command += [f"-D{key}={value}" for key, value in (properties or {}).items()]
    command += ["-cp", os.pathsep.join([*jars, str(spark.test_jar), f"{spark.home}/jars/*"]), main, *map(str, args)]
    done = subprocess.run(command, cwd=cwd, env=spark.env(env), encoding="utf-8", capture_output=True, timeout=180)
    return Result(done.returncode, done.stdout, done.stderr)


def outcomes(result: Result) -> dict[str, str]:
    return dict(line.split("|", 1) for line in result.check().out.split("\n") if "|" in line)


def load(spark: Spark, cwd: pathlib.Path, **options) -> dict[str, str]:
    """Loads the library; whatever goes wrong is a value that stays the same, and nothing is left on disk."""
    found = outcomes(java(spark, cwd, "load", **options))
    assert found["same"] == "true"
    if found["result"] != "loaded":
        assert found["result"].startswith("NativeLibraryException: ")
        assert found["engine"] == found["jvmti"] == "NativeLibraryException"
    return found


def test_round_trip(spark, tmp_path):
    found = outcomes(java(spark, tmp_path, "roundtrip"))
    shares = {run: int(found[f"plan {run}"]) for run in (1, 2)}
    assert sum(shares.values()) == 8 and shares[1] > shares[2] >= 1, "the run whose loss still falls gets more"
    explained = json.loads(found["explain"])
    entries = {entry["run"]: entry for entry in explained["runs"]}
    assert {run: entry["cores"] for run, entry in entries.items()} == shares
    assert entries[2]["name"] == 'flat "ü\u2028😀"'
    assert entries[1]["iteration"] == 30 and entries[1]["loss"] == pytest.approx(100 / 31)
    assert all(entry["algorithm"] == "KMeans" and entry["reason"] for entry in entries.values())
    assert found["after finish"] == "Map(2 -> 8)"
    assert found["done"] == "closed twice"


def test_bad_input_is_refused_by_name_and_odd_numbers_do_no_harm(spark, tmp_path):
    found = outcomes(java(spark, tmp_path, "refusals"))
    for loss in ("NaN", "Infinity", "-Infinity", "1.7976931348623157E308"):
        assert found[f"loss {loss}"] == "()"
    assert found["plan after odd losses"] == found["odd times"] == "Map(1 -> 4)"
    assert found["no cores"] == "Map(1 -> 0)"
    argument = {
        "negative cores": "cores = -1: allowed is 0 or more",
        "negative iteration": "iteration = -2: allowed is 0 or more",
        "unknown run": "run 99 is not active",
        "unknown finish": "run 99 is not active",
        "started twice": "run 1 is already active",
        "weight": "weight = -1: allowed is a number above 0",
        "five numbers": "stages = 5 numbers: allowed are four for each stage",
        "null stages": "null",
        "null run": "null",
        "bad run": 'id = "x": allowed is a whole number',
        "log level": "log level = loud: allowed are off, error, warn, info, debug, trace",
        "not json": "a JSON object",
        "config epoch": "spark.slaq.epoch = 0: allowed is a number from 0.01 to 3600",
        "config fairness": "spark.slaq.fairness = much: allowed is a number from 0 to 1",
        "config floor": "spark.slaq.floor = 1.5: allowed is a whole number from 1",
        "config policy": "spark.slaq.policy = best: allowed is",
        "config colour": "spark.slaq.colour = red: allowed is one of policy",
    }
    for name, text in argument.items():
        assert found[name].startswith("IllegalArgumentException: ") and text in found[name], (name, found[name])
    for name in ("unknown handle", "handle 0", *(f"{call} after close" for call in ("report", "plan", "start", "explain"))):
        assert re.fullmatch(r"IllegalStateException: engine \d+ is closed", found[name]), (name, found[name])


def test_close_under_load(spark, tmp_path):
    assert outcomes(java(spark, tmp_path, "close"))["ended by close"] == "200"


@pytest.fixture(scope="session")
def panicking_library() -> pathlib.Path:
    """The library with a function that makes the next call panic; the packaged one has no such thing."""
    target = ROOT / "build/test-panics"
    subprocess.run(["cargo", "build", "--quiet", "--package", "slaq-core", "--lib", "--features", "test-panics", "--target-dir", target],
                   cwd=ROOT, check=True, timeout=900)
    return next(path for path in (target / "debug").glob("libslaq_core.*") if path.suffix in (".so", ".dylib"))


def test_a_panic_in_any_export_is_an_exception_with_its_text(spark, tmp_path, panicking_library):
    found = outcomes(java(spark, tmp_path, "panics", properties={"spark.slaq.native.path": panicking_library}))
    calls = [name.removesuffix(" works") for name in found if name.endswith(" works")]
    assert len(calls) == 15 and found["not covered"] == ""
    for call in calls:
        assert found[f"{call} formatted"].startswith("IllegalStateException: panic in the native library: index out of bounds")
        assert found[f"{call} literal"] == "IllegalStateException: panic in the native library: a literal"
        assert "panic" not in found[f"{call} works"] and "Exception" not in found[f"{call} works"], found[f"{call} works"]


    for kind in ("fault", "panic"):
        assert found[f"{kind} while pending"] == "UnsupportedOperationException: came first"


def test_log_goes_to_standard_error_at_the_level_asked_for(spark, tmp_path):
    for level in ("error", "warn", "info"):
        (tmp_path / f"{level}.json").write_text("not a file of curves")
    asked = java(spark, tmp_path, "log", "error", "warn", "off", "info", "loud")
    found = outcomes(asked)
    assert [found[level] for level in ("error", "warn", "off", "info")] == ["true"] * 4
    warned = re.findall(r"WARN\s+slaq_core\S*\] .*?(\w+)\.json", asked.err)
    assert warned == ["warn", "info"], asked.err
    assert "slaq_core" not in asked.out
    overruled = java(spark, tmp_path, "log", "error", env={"SLAQ_LOG": "warn"})
    assert re.search(r"WARN\s+slaq_core\S*\] .*error\.json", overruled.check().err)
    assert "SLAQ_LOG = loud: allowed are off" in outcomes(java(spark, tmp_path, "log", "error", env={"SLAQ_LOG": "loud"}))["error"]


def test_loads_from_the_jar_and_leaves_nothing_behind(spark, tmp_path):
    folder = tmp_path / "unpacked"
    folder.mkdir()
    found = load(spark, tmp_path, properties={"spark.slaq.native.tmpdir": folder})
    assert (found["result"], found["engine"], found["jvmti"]) == ("loaded", "opened", "opened")
    assert list(folder.iterdir()) == []


def test_two_class_loaders_in_one_jvm(spark, tmp_path):
    result = java(spark, tmp_path, "loaders", with_jar=False, properties={"slaq.jar": spark.jar.as_uri()})
    assert result.check().lines("load|") == ["Right(())"] * 2
    assert result.lines("distinct|") == ["2"]


def test_library_named_by_its_path(spark, tmp_path, panicking_library):
    found = load(spark, tmp_path, properties={"spark.slaq.native.path": panicking_library})
    assert found["result"] == "loaded"


@pytest.mark.parametrize("name", ["absent.so", "."])
def test_path_that_is_no_library_file(spark, tmp_path, name):
    found = load(spark, tmp_path, properties={"spark.slaq.native.path": tmp_path / name})
    assert f"spark.slaq.native.path = {tmp_path / name} is not a file that can be read" in found["result"]


def test_path_to_something_else_and_to_another_library(spark, tmp_path):
    text = tmp_path / "text.so"
    text.write_text("not a library")
    result = load(spark, tmp_path, properties={"spark.slaq.native.path": text})["result"]
    assert f"spark.slaq.native.path = {text} can't be loaded on linux/" in result
    other = next(p for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64") for p in pathlib.Path(folder).glob("**/libm.so.6"))
    result = load(spark, tmp_path, properties={"spark.slaq.native.path": other})["result"]
    assert "is not SLAQ's native library" in result and "unset spark.slaq.native.path" in result


def test_a_failure_is_tried_again_once_the_settings_have_changed(spark, tmp_path, panicking_library):
    absent = tmp_path / "absent.so"
    assert load(spark, tmp_path, properties={"spark.slaq.native.path": absent, "retry": panicking_library})["retry"] == "loaded"
    assert "is not a file" in load(spark, tmp_path, properties={"spark.slaq.native.path": absent, "retry": absent})["retry"]


def test_library_of_another_version(spark, tmp_path):
    """A jar that says it is another release, around the same library."""
    jar = tmp_path / spark.jar.name
    with zipfile.ZipFile(spark.jar) as old, zipfile.ZipFile(jar, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "META-INF/MANIFEST.MF":
                content, count = re.subn(rb"Implementation-Version: \S+", b"Implementation-Version: 9.8.7", content)
                assert count == 1
            new.writestr(entry, content)
    result = load(spark, tmp_path, jar=jar)["result"]
    assert re.search(r"library is of version \d+\.\d+\.\d+, this jar of version 9\.8\.7; use files of one release", result)


def test_jar_without_a_library_for_this_platform(spark, tmp_path):
    result = load(spark, tmp_path, properties={"os.arch": "sparc"})["result"]
    assert "this jar has no native library for linux/sparc" in result
    assert "cargo build --release" in result and "spark.slaq.native.path" in result


def test_folder_that_can_not_be_written(spark, tmp_path):
    result = load(spark, tmp_path, properties={"spark.slaq.native.tmpdir": tmp_path / "absent"})["result"]
    assert f"can't be unpacked to {tmp_path}/absent" in result and "set spark.slaq.native.tmpdir" in result


@pytest.fixture
def noexec(tmp_path):
    """A folder on a file system that allows no execution: one that is mounted already, or one mounted for the test."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, where, kind, options, *_ = line.split()
        if kind == "tmpfs" and "noexec" in options.split(",") and os.access(where, os.W_OK):
            folder = pathlib.Path(where) / f"slaq-test-{os.getpid()}"
            folder.mkdir()
            yield folder
            shutil.rmtree(folder)
            return
    folder = tmp_path / "noexec"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no writable noexec tmpfs, and none can be mounted: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_noexec_folder(spark, tmp_path, noexec):
    result = load(spark, tmp_path, properties={"spark.slaq.native.tmpdir": noexec})["result"]
    assert f"{noexec} does not allow its files to be executed" in result and "set spark.slaq.native.tmpdir" in result
    assert list(noexec.iterdir()) == []


def test_platform_names(spark, tmp_path):
    result = java(spark, tmp_path, "platform").check()
    assert result.out.split("\n")[:7] == [
        "Linux amd64|linux/x86_64", "Linux amd64|linux/x86_64-musl", "Linux aarch64|linux/aarch64", "Mac OS X arm64|macos/aarch64",
        "Linux x86_64|linux/x86_64", "Linux sparc v9|linux/sparc_v9", "Windows 11 amd64|windows_11/x86_64"]
    assert "musl" not in result.lines("current|")[0]


def test_redefining_classes(spark, tmp_path):
    redefine(spark, tmp_path, None)


def test_redefining_classes_on_java_25(tmp_path, java25):
    redefine(Spark("4.2"), tmp_path, java25)


def redefine(spark: Spark, cwd: pathlib.Path, java_home: str | None):
    jar = cwd / "probe.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr("probe.txt", "here")
    found = outcomes(java(spark, cwd, jar, main="org.apache.spark.slaq.loss.JvmtiApp", java_home=java_home))
    assert (found["before"], found["redefined"], found["after"]) == ("41", "0", "42")
    assert (found["loaded"], found["to be replaced"], found["replaced"]) == ("true false", "0", "42")
    assert (found["of another build"], found["not replaced"]) == ("0", "41"), "only the class that the replacement was made from"
    assert found["fails verification"] == "62 JVMTI_ERROR_FAILS_VERIFICATION"
    assert found["not a class file"] == "JVMTI_ERROR_INVALID_CLASS_FORMAT"
    assert found["another class's bytes"] == "JVMTI_ERROR_NAMES_DONT_MATCH"
    assert found["primitive"] == "JVMTI_ERROR_UNMODIFIABLE_CLASS"
    assert found["untouched"] == "42"
    assert found["null class"].startswith("java.lang.IllegalArgumentException")
    assert found["null bytes"].startswith("java.lang.IllegalArgumentException")
    assert found["absent jar"] == "JVMTI_ERROR_ILLEGAL_ARGUMENT"
    assert found["jar"] == "JVMTI_ERROR_NONE" and found["resource"] == "true"
    assert found["names"].split()[:5] == ["JVMTI_ERROR_NONE", "JVMTI_ERROR_FAILS_VERIFICATION", "JVMTI_ERROR_MUST_POSSESS_CAPABILITY",
                                          "JVMTI_ERROR_INVALID_ENVIRONMENT", "code"]


def test_benchmark_of_the_boundary_runs(spark, tmp_path):
    """The figures themselves are the bench's business; here they must be there, and sane on a machine under load."""
    figures = json.loads(java(spark, tmp_path, 20, 64, main="org.apache.spark.slaq.engine.JniBench").check().out)
    assert (figures["runs"], figures["cores"]) == (20, 64)
    for name in ("call_us", "report_us", "plan_ms"):
        assert 0 < figures[name]["median"] <= figures[name]["p90"] <= figures[name]["max"]
    assert figures["call_us"]["median"] < 10


def test_jar_check_finds_foreign_entries_and_test_only_libraries(spark, tmp_path, panicking_library):
    def run(jar):
        return subprocess.run([ROOT / "scripts/check-jar", jar], capture_output=True, text=True)

    good = run(spark.jar)
    assert good.returncode == 0, good.stderr
    assert re.search(r"glibc \d+\.\d+", good.stdout)
    bad = tmp_path / spark.jar.name
    shutil.copy(spark.jar, bad)
    with zipfile.ZipFile(bad, "a") as content:
        content.writestr("com/example/Foreign.class", b"\xca\xfe\xba\xbe\0\0\0\x20")
        content.writestr("org/apache/spark/slaq/TooNew.class", b"\xca\xfe\xba\xbe\0\0\0\x63")
        content.write(panicking_library, "org/apache/spark/slaq/native/linux/other/libslaq_core.so")
    found = run(bad)
    assert found.returncode == 1
    for reason in ("foreign entry com/example/Foreign.class", "TooNew.class has class file version 99", "feature test-panics"):
        assert reason in found.stderr
