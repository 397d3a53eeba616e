"""Shares are kept: tasks sleep, so 8 slots are 8 cores whatever the machine has, and the record tells what ran."""

import re
import subprocess
import urllib.error
import urllib.request

import pytest

from arbiter import waited
from explain import Record

APP = "org.apache.spark.slaq.tests.Limits"


@pytest.fixture(scope="module")
def ran(spark, tmp_path_factory):
    """One application, with equal shares by weight so that the plan is known beforehand; three contexts in a row."""
    folder = tmp_path_factory.mktemp("limits")
    done = spark.submit(APP, folder, "fair,,-1,shares", "fifo,FIFO,-1,shares", "lend,,100ms,lending,others,alone,pools,barrier",
                        master="local[8]", conf={"spark.slaq.policy": "equal"}).check()
    return done, {name: Record(folder / f"{name}.jsonl") for name in ("fair", "fifo", "lend")}


@pytest.mark.parametrize("context, mode", [("fair", "FAIR"), ("fifo", "FIFO")])
def test_mean_running_tasks_are_the_plan(ran, context, mode):
    done, records = ran
    assert f"{context} {mode}" in done.lines("mode "), "FAIR where the user set nothing, FIFO where he did"
    for name, cores in [("five", 5), ("two", 2), ("one", 1)]:
        share, running = records[context].means(name, "five", "two", "one")
        assert share == pytest.approx(cores, abs=0.3), f"{name} was planned {share}"
        assert running == pytest.approx(share, rel=0.15), f"{name} ran {running} tasks on a share of {share}"


def test_unused_cores_are_lent(ran):
    share, running = ran[1]["lend"].means("uneven", "wide")
    assert share == pytest.approx(4, abs=0.1) and running < 2.4
    share, running = ran[1]["lend"].means("wide", "uneven")
    assert share == pytest.approx(4, abs=0.1) and running > 5.1, f"ran {running} tasks; two cores of the other were free"


def test_other_work_keeps_its_fair_share(ran):
    spans = [(seconds, after) for seconds, before, after in ran[1]["lend"].spans("first", "second") if before["reserve"] and after["others"]]
    assert {plan["reserve"] for _, plan in spans} == {3}, "a third of 8 cores"
    running = sum(s * plan["othersRunning"] for s, plan in spans) / sum(s for s, _ in spans)
    assert running >= 8 / 3 * 0.85, f"other work ran {running} tasks"


def test_other_work_has_all_cores_when_no_run_is_left(ran):
    [running] = [float(line) for line in ran[0].lines("alone ")]
    assert running >= 8 * 0.85, f"other work ran {running} tasks on 8 cores"


def test_pools_of_users_are_left_alone(ran):
    done, records = ran
    record = records["lend"]
    assert record.run("start", "named")["planned"] is False
    assert record.run("start", "unnamed")["planned"] is True
    assert record.run("finish", "named")["outcome"] == "finished"
    pools = done.lines("pool lend ")
    assert "mine" in pools
    ours = [p for p in pools if p.startswith("slaq-")]
    assert sorted(ours) == ["slaq-0", "slaq-1"], "as many as runs at once, however many runs there were"


def test_barrier_stages_are_not_limited(ran):
    record = ran[1]["lend"]
    shares = [r["share"] for plan in record.kind("plan") for r in plan["runs"] if r["name"] == "barrier"]
    assert shares and min(shares) < 6, "all six tasks of its stages would fit anyway"
    assert record.run("finish", "barrier")["outcome"] == "finished"


def test_the_stages_page_of_spark_shows_runs_with_their_shares(spark, workspace):
    command = spark.command(APP, workspace, "page,,-1,shares", master="local[8]", conf={
        "spark.slaq.policy": "equal", "spark.ui.enabled": "true", "spark.ui.port": "0"})
    log = workspace / "log"
    with log.open("w") as err, subprocess.Popen(command, env=spark.env(), stdout=subprocess.DEVNULL, stderr=err) as process:
        seen: dict[str, tuple] = {}

        def shown() -> bool:
            ports = re.findall(r"service 'SparkUI' on port (\d+)", log.read_text(errors="replace"))
            if ports and process.poll() is None:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{ports[-1]}/stages/", timeout=20) as page:
                        seen.update(pools(page.read().decode()))
                except urllib.error.URLError:
                    return False  # The server is there before its pages are.
            # Name, then minimum share, weight, active stages, running tasks, mode.
            return sorted((int(p[0]), int(p[1])) for name, p in seen.items() if name.startswith("slaq-")) == [(1, 1), (2, 2), (5, 5)]

        try:
            waited(shown, 120, lambda: f"three runs with their shares: {seen}\n{log.read_text(errors='replace')[-3000:]}")
        finally:
            process.kill()


def pools(page: str) -> dict[str, tuple]:
    """Rows of the table of pools: by name, the other cells as text."""
    rows = (re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.S))
    texts = ([re.sub(r"<[^>]+>", "", cell).strip() for cell in row] for row in rows)
    return {name: tuple(rest) for name, *rest in filter(None, texts) if re.fullmatch(r"slaq-\d+|default", name)}
