"""The figures of the demo and the benches, on records small enough to check by hand."""

import json
import os
import sys

import pytest

from conftest import DEPS, ROOT

sys.path.insert(0, str(ROOT / "scripts"))
os.environ.setdefault("SLAQ_ROOT", str(ROOT))
os.environ.setdefault("SLAQ_DEPS", str(DEPS))

import figures  # noqa: E402
import record  # noqa: E402
import schedule  # noqa: E402

OUTPUT = ["start\t1000.0", "fit\ta\t1000.0\t1010.0\tfinished", "fit\tb\t1004.0\t1010.0\tfinished", "end\t1010.0\t5.0\t0.0"]


def lines(*found: dict) -> str:
    return "".join(json.dumps(line) + "\n" for line in found)


def start(run: int, name: str, maximise: bool = False) -> dict:
    return {"kind": "start", "time": 1000.0, "run": run, "name": name, "algorithm": "A", "maximise": maximise}


def plan(time: float, *runs: dict) -> dict:
    return {"kind": "plan", "time": time, "epoch": 1, "cores": 4, "runs": list(runs)}


def run(number: int, name: str, running: float, *losses: list) -> dict:
    return {"run": number, "name": name, "algorithm": "A", "running": running, "share": 2, "losses": list(losses)}


@pytest.fixture
def trial(tmp_path) -> record.Record:
    """Fit a falls 10, 5, 0.4, 0 at 1, 2, 4, 6 s; fit b, which maximises, rises -8, -4, 0 at 5, 6, 8 s, and is sent at 4 s."""
    path = tmp_path / "record.jsonl"
    path.write_text(lines(
        start(1, "a"), start(2, "b", maximise=True),
        plan(1004.0, run(1, "a", 4.0, [0, 10.0, 1001.0], [1, 5.0, 1002.0], [2, 0.4, 1004.0])),
        plan(1010.0, run(1, "a", 1.0, [3, 0.0, 1006.0], [4, "NaN", 1007.0]), run(2, "b", 3.0, [0, -8.0, 1005.0], [1, -4.0, 1006.0])),
        {"kind": "finish", "time": 1010.0, "outcome": "finished", **run(2, "b", 0.0, [2, 0.0, 1008.0])},
    ))
    return record.read(path, OUTPUT)


def test_record_turns_losses_that_rise_and_drops_what_is_no_number(trial):
    assert trial.fits["a"].losses == [10.0, 5.0, 0.4, 0.0]
    assert trial.fits["b"].losses == [8.0, 4.0, 0.0]
    assert trial.fits["b"].raw == [-8.0, -4.0, 0.0]
    assert trial.fits["b"].times == [5.0, 6.0, 8.0]
    assert (trial.makespan, trial.cpu) == (10.0, 5.0)


def test_figures_count_from_submission(trial):
    found = figures.of(trial, figures.scales([trial]), horizon=10.0)
    assert found.t90_s == pytest.approx((4.0 + 4.0) / 2)  # a: 0.4 of 10 is left at 4 s; b: sent at 4 s, best at 8 s
    assert found.t95_s == pytest.approx((4.0 + 4.0) / 2)
    assert found.completion_s == pytest.approx((10.0 + 6.0) / 2)
    assert found.makespan_s == 10.0
    # a: 2 s at 1 (1 s before its first loss, 1 s at it), 2 s at 0.5, 2 s at 0.04; b: 2 s at 1, 2 s at 0.5.
    assert found.loss_area == pytest.approx((3.08 + 3.0) / 2, abs=0.15)
    # a alone until 4 s: 2·1 + 2·0.5, then both: a 2 s at 0.04, b 2 s at 1 and 2 s at 0.5, over two runs.
    assert found.mean_norm_loss == pytest.approx((2 + 1 + (0.08 + 2 + 1) / 2) / 10, abs=0.02)
    assert found.active_runs == pytest.approx((4 * 1 + 6 * 2) / 10, abs=0.02)
    assert found.cores_used == pytest.approx(4.0)
    assert found.cpu_used == 0.5


def test_shares_are_those_of_the_highest_and_the_lowest_losses(tmp_path):
    names = "abcd"
    output = ["start\t1000.0"] + [f"fit\t{n}\t1000.0\t1010.0\tfinished" for n in names] + ["end\t1010.0\t5.0\t0.0"]
    path = tmp_path / "record.jsonl"
    first = [run(i, n, 1.0, [0, 1.0, 1000.5], [1, i / 4, 1001.0], [2, 0.0, 1009.5]) for i, n in enumerate(names)]
    second = [run(i, n, cores) for (i, n), cores in zip(enumerate(names), (0.0, 1.0, 2.0, 5.0))]
    path.write_text(lines(*[start(i, n) for i, n in enumerate(names)], plan(1001.0, *first), plan(1009.0, *second)))
    found = record.read(path, output)
    result = figures.of(found, figures.scales([found]), horizon=10.0)
    # First second: all are new, one core each. Then d, with the highest loss, has 5 of 8, and a and b together 1.
    assert result.share_top_quarter == pytest.approx((1 * 1 / 4 + 8 * 5 / 8) / 9)
    assert result.share_converged_half == pytest.approx((1 * 2 / 4 + 8 * 1 / 8) / 9)


def test_best_loss_is_that_of_all_trials(trial, tmp_path):
    path = tmp_path / "other.jsonl"
    path.write_text(lines(start(1, "a"), plan(1010.0, run(1, "a", 1.0, [0, 10.0, 1001.0], [1, -10.0, 1009.0]))))
    other = record.read(path, OUTPUT)
    scale = figures.scales([trial, other])
    assert (scale["a"].first, scale["a"].best) == (10.0, -10.0)
    assert figures.curve_spread([trial, other], scale)["a"] == pytest.approx(15 / 20)


def test_the_same_seed_draws_the_same_schedule():
    one, two, other = (schedule.schedule(16, 32, 1.6, 300, schedule.widths(32), seed) for seed in (1, 1, 2))
    assert one == two != other
    assert len({fit.name for fit in one}) == 16
    assert one[0].at == 0 and all(a.at <= b.at for a, b in zip(one, one[1:]))
    work = sum(fit.partitions * fit.millis / 1000 * next(t.stages for t in schedule.CATALOGUE if t.kind == fit.kind) for fit in one)
    assert work / 32 / one[-1].at == pytest.approx(1.6, rel=0.15)


def test_a_schedule_has_many_kinds():
    kinds = {fit.kind for fit in schedule.schedule(16, 32, 1.6, 300, schedule.widths(32), 1)}
    assert len(kinds) >= 7
