"""A small run of the demo: real Spark, the packaged jar, eight emulated cores, three fits."""

import json
import os
import subprocess

import pytest

from conftest import ROOT

FIGURES = ("t90_s", "t95_s", "mean_norm_loss", "loss_area", "completion_s", "makespan_s", "share_top_quarter", "share_converged_half")


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [str(ROOT / "scripts/demo"), "--fits", "4", "--cores", "16", "--json", str(folder / "demo.json"), "--html", str(folder / "demo.html")],
        text=True, capture_output=True, timeout=900, env=os.environ)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-8000:]
    return {"out": done.stdout, "json": json.loads((folder / "demo.json").read_text()), "html": (folder / "demo.html").read_text()}


def test_figures_of_both_policies_are_plausible(demo):
    for policy in ("fair", "slaq"):
        found = demo["json"]["policies"][policy]
        assert set(FIGURES) <= set(found)
        assert 0 < found["t90_s"] <= found["t95_s"] <= found["completion_s"] <= found["makespan_s"]
        assert 0 < found["mean_norm_loss"] < 1
        assert 0 < found["loss_area"] < found["makespan_s"]
        assert 1 < found["cores_used"] <= 16.5
    assert demo["json"]["ratios"]["slaq"]["t90_s"]["median"] == pytest.approx(
        demo["json"]["policies"]["slaq"]["t90_s"] / demo["json"]["policies"]["fair"]["t90_s"], rel=0.01)


def test_every_fit_reports_its_losses_and_both_policies_train_the_same(demo):
    assert demo["json"]["without_loss"] == []
    assert demo["json"]["different_curves"] == {}
    assert len(demo["json"]["schedule"]) == 4


def test_the_page_needs_no_network(demo):
    assert demo["html"].startswith("<!doctype html>")
    assert "/*DATA*/" not in demo["html"]
    for foreign in ("http://", "https://", "src=", "@import", "url("):
        assert foreign not in demo["html"].replace("http://www.w3.org/2000/svg", "")


def test_a_wrong_option_is_refused(tmp_path):
    done = subprocess.run([str(ROOT / "scripts/demo"), "--cores", "0"], text=True, capture_output=True, timeout=600)
    assert done.returncode == 2
    assert "'0' is no whole number of 2 or more" in done.stderr
