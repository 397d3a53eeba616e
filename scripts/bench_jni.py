"""Cost of the calls into the native engine, and of what is behind them: scripts/bench jni."""

import argparse
import json
import os
import pathlib
import subprocess

import table
import trial

LIMITS = {"report_us": ("a guarded report with its fit: under 100 µs", 100.0), "plan_ms": ("a plan of 100 runs on 1,000 cores: under 1 ms", 1.0)}


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench jni", description=__doc__)
    parser.add_argument("--json", type=pathlib.Path, help="file for the figures")
    parser.add_argument("--line", choices=sorted(trial.SCALA), default="4.2", help="Spark line (default 4.2)")
    options = parser.parse_args()
    home = trial.DEPS / f"spark-{options.line}"
    classes = [trial.product_jar(options.line), trial.test_jar(options.line), home / "jars/*"]
    java = pathlib.Path(os.environ["JAVA_HOME"]) / "bin/java" if "JAVA_HOME" in os.environ else "java"
    done = subprocess.run([str(java), "-cp", os.pathsep.join(map(str, classes)), "org.apache.spark.slaq.engine.JniBench"],
                          text=True, capture_output=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}\n{done.stderr[-6000:]}")
    figures = json.loads(done.stdout.splitlines()[-1])
    print(json.dumps(figures, indent=1))
    results = [(text, f"{median(figures[key]):.3g}", median(figures[key]) < limit) for key, (text, limit) in LIMITS.items()]
    print(table.layout([["target", "measured", ""], None] + [[t, v, "met" if m else "MISSED"] for t, v, m in results]))
    if options.json:
        options.json.write_text(json.dumps(figures | {"targets": [{"target": t, "measured": v, "met": m} for t, v, m in results]}, indent=1) + "\n")


def median(figure) -> float:
    """A figure is a number, or several of which the median counts."""
    return figure["median"] if isinstance(figure, dict) else figure


if __name__ == "__main__":
    main()
