"""The arbiter's daemon under simulated drivers over the real RPC: plans, leases, restarts, security, nonsense."""

import signal
import socket
import subprocess

import pytest

from arbiter import Arbiter, Drivers, java, waited
from conftest import SCALA, Spark, newest

QUICK = {"lease": 3, "period": 2, "settle": 0.5, "dwell": 0, "probation": 0.5, "expect": 1, "grace": 1, "move_cost": 0.2}


@pytest.fixture(scope="module")
def lines() -> dict[str, Spark]:
    return {line: Spark(line) for line in SCALA}


def total(line: dict) -> int:
    return sum(line["targets"].values())


def never_too_much(drivers: Drivers, cores: int) -> None:
    # Two lines may straddle a plan (one driver heard of it, the other has not): a third in a row may not.
    over = [total(line) > cores for line in drivers.seen if "targets" in line]
    assert not any(all(over[i:i + 3]) for i in range(len(over) - 2)), drivers.seen


@pytest.mark.parametrize("daemon, driver", [("3.5", "4.2"), ("4.2", "3.5")])
def test_drivers_of_both_lines_share_an_encrypted_arbiter(lines, daemon, driver, workspace):
    with Arbiter(lines[daemon], workspace, secret="open sesame", **QUICK) as arbiter:
        with Drivers(lines[driver], arbiter, prefix="other", seconds=40) as other, \
                Drivers(lines[daemon], arbiter, prefix="same", seconds=40) as same:
            same.until(lambda line: line["targets"].get("same-0000") == 4, 25, "four of eight cores each")
            other.until(lambda line: line["targets"].get("other-0000") == 4, 25, "four of eight cores each")
            # The very first answer may take longer than a driver waits, on a busy machine.
            assert same.seen[-1]["errors"] <= 2 and other.seen[-1]["errors"] <= 2, (same.seen, other.seen)
            with Drivers(lines[driver], arbiter, prefix="thief", secret="wrong", seconds=8) as wrong, \
                    Drivers(lines[driver], arbiter, prefix="naked", seconds=8, secret=None) as none:
                for intruder in (wrong, none):
                    line = intruder.until(lambda line: line["errors"] > 0, 8, "refused")
                    assert not line["targets"], line
            status = arbiter.status()
            assert sorted(app["app"] for app in status["apps"]) == ["other-0000", "same-0000"], status
    assert "ERROR" not in arbiter.log.replace("ERROR TransportRequestHandler", "").replace("ERROR AuthRpcHandler", ""), arbiter.log


def test_options_are_checked_and_the_script_tells(lines, workspace):
    spark = lines["4.2"]
    for options, words in [
        ({"host": "0.0.0.0"}, ["--host 0.0.0.0", "--secret-file"]),
        ({"lease": "0"}, ["lease", "0.1 to 3600"]),
        ({"cores": "many"}, ["--cores many", "whole number"]),
        ({"cores": "auto"}, ["--cores auto", "--master-ui"]),
        ({"leese": "1"}, ["--leese", "--lease"]),
        ({"tenants": "/nowhere"}, ["--tenants /nowhere"]),
    ]:
        done = Arbiter(spark, workspace, **options).start(check=False)
        assert done.returncode != 0 and all(word in done.stderr for word in words), (options, done.stderr)
    readable = workspace / "readable"
    readable.write_text("secret")
    readable.chmod(0o644)
    done = Arbiter(spark, workspace, secret_file=readable).start(check=False)
    assert "others can read it" in done.stderr, done.stderr

    with Arbiter(spark, workspace, **QUICK) as arbiter:
        assert "already" in arbiter.start(check=False).stderr
        taken = Arbiter(spark, workspace)
        taken.options |= {"host": "127.0.0.1"}
        (workspace / f"arbiter-{arbiter.port}.pid").rename(workspace / "kept")
        taken.port = arbiter.port
        # The port is not moved silently: nobody would find it.
        assert taken.start(check=False).returncode != 0
        (workspace / "kept").rename(workspace / f"arbiter-{arbiter.port}.pid")
        assert "0 of 8 cores promised" in arbiter.script("status").stdout
        arbiter.script("stop")
        assert "does not answer" in arbiter.script("status", check=False).stderr
        assert "no arbiter runs" in arbiter.script("stop", check=False).stderr


@newest
def test_killed_restarted_and_stopped_it_holds_and_everything_returns(spark, workspace):
    with Arbiter(spark, workspace, **QUICK) as arbiter:
        with Drivers(spark, arbiter, apps=2, sizes="1.0,0.0001", seconds=120) as drivers:
            settled = {"app-0000": 7, "app-0001": 1}
            drivers.until(lambda line: line["targets"] == settled, 30, "seven and one")
            arbiter.kill()
            drivers.until(lambda line: line["errors"] > 1, 20, "drivers notice")
            assert drivers.seen[-1]["targets"] == settled
            arbiter.start()
            errors = -1
            for _ in range(30):
                line = drivers.second()
                assert line["targets"] == settled, line
                if line["errors"] == errors:
                    break
                errors = line["errors"]
            # A third one comes, and gets its minimum at once.
            with Drivers(spark, arbiter, prefix="late", sizes="1.0", seconds=60) as late:
                late.until(lambda line: line["targets"].get("late-0000", 0) >= 1, 15, "a newcomer's minimum")
                arbiter.signal(signal.SIGSTOP)
                before = drivers.second()["errors"]
                drivers.until(lambda line: line["errors"] > before, 30, "silence")
                arbiter.signal(signal.SIGCONT)
                drivers.until(lambda line: total(line) + total(late.seen[-1]) <= 8 and len(line["targets"]) == 2, 20, "back to a plan")
                late.until(lambda line: line["targets"].get("late-0000", 0) >= 3, 30, "what it gains")
                late.process.kill()
            # Killed drivers are noticed by their connection, before a lease is over.
            drivers.until(lambda line: line["targets"] == settled, 15, "seven and one again")
            never_too_much(drivers, 8)


@newest
def test_nonsense_is_refused_and_harms_nobody(spark, workspace):
    with Arbiter(spark, workspace, **QUICK) as arbiter:
        with Drivers(spark, arbiter, apps=2, seconds=90) as drivers, Drivers(spark, arbiter, prefix="nan", sizes="NaN", seconds=90) as nan:
            nan.until(lambda line: line["targets"].get("nan-0000") == 1, 20, "the minimum for one that reports NaN")
            bad = subprocess.run(java(spark, "org.apache.spark.slaq.arbiter.BadClient", arbiter.address), env=spark.env(), text=True,
                                 capture_output=True, timeout=180)
            answers = bad.stdout.splitlines()
            for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100_000, bytes(range(256)) * 10):
                with socket.create_connection(("127.0.0.1", arbiter.port), timeout=5) as line:
                    line.sendall(noise)
            assert len(answers) == 9 and all('"error"' in a for a in answers[:6]) and all(a.startswith("failed") for a in answers[6:]), answers
            drivers.until(lambda line: total(line) == 7, 20, "all that NaN does not have")
            assert nan.second()["targets"] == {"nan-0000": 1}
            status = arbiter.status()
            assert len(status["apps"]) == 3 and status["promised"] == 8, status


def test_fifty_applications_on_eight_cores_take_turns(lines, workspace):
    spark = lines["4.2"]
    with Arbiter(spark, workspace, turn=2, **QUICK) as arbiter:
        with Drivers(spark, arbiter, apps=50, interval=500, pausable="true", connections=10, seconds=60) as drivers:
            served: set[str] = set()

            def everybody(line: dict) -> bool:
                served.update(app for app, target in line["targets"].items() if target)
                return len(served) == 50

            drivers.until(everybody, 55, "everybody had a turn")
            never_too_much(drivers, 8)
            assert drivers.seen[-1]["errors"] <= 50, drivers.seen[-1]


def test_tenants_are_read_again_when_their_file_changes(lines, workspace):
    spark = lines["3.5"]
    file = workspace / "tenants.json"
    file.write_text("{}")
    with Arbiter(spark, workspace, tenants=file, **QUICK) as arbiter:
        with Drivers(spark, arbiter, apps=1, seconds=60) as drivers:
            drivers.until(lambda line: total(line) == 8, 20, "all cores")
            file.write_text('{"sim": {"maximum": 3}}')
            drivers.until(lambda line: total(line) == 3, 15, "the tenant's maximum")
            file.write_text('{"sim": {"maximum": -3}}')
            waited(lambda: "tenants stay as they were: tenants: sim: maximum = -3" in arbiter.log, 10, "the mistake is told")
            assert total(drivers.second()) == 3
