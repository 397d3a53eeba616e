"""The demo: stock FAIR and SLAQ on one schedule. Called by scripts/demo, which says what the options mean."""

import argparse
import pathlib
import sys
import tempfile

import page
import schedule
import table
import trial
from comparison import Comparison

# Work arrives faster than the cores can do it, as on a busy cluster: about eight of the fits are in progress at a time.
LOAD = 1.6
MILLIS = 180


def main():
    options = read_options()
    fits = schedule.schedule(options.fits, options.cores, LOAD, MILLIS, schedule.widths(options.cores), options.seed)
    comparison = Comparison(fits, trial.Machine(options.cores, emulated=True))
    print(f"{len(fits)} MLlib fits ({len({f.kind for f in fits})} kinds) on {options.cores} declared cores; emulated: each task lasts its "
          "stated time, all else is real", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="slaq-demo-") as scratch:
        folder = options.folder or pathlib.Path(scratch)
        for pair in range(1, options.pairs + 1):
            # Alternation: whatever drifts on the machine hits both.
            for policy in ("fair", "slaq") if pair % 2 else ("slaq", "fair"):
                title = f"pair {pair} of {options.pairs}, {table.name(policy)}"
                comparison.add(policy, pair, trial.run(policy, fits, comparison.machine, folder / f"{pair}-{policy}", title))
    print(table.figures(comparison))
    for line in table.warnings(comparison):
        print("note: " + line)
    if options.json:
        comparison.write(options.json)
    options.html.parent.mkdir(parents=True, exist_ok=True)
    page.write(options.html, comparison, ("fair", "slaq"), f"scripts/demo --fits {options.fits} --cores {options.cores} --pairs {options.pairs} --seed {options.seed}")
    print(f"page: {options.html}", file=sys.stderr)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/demo")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--html", type=pathlib.Path, default=trial.ROOT / "build/demo.html")
    parser.add_argument("--fits", type=at_least(2), default=16)
    parser.add_argument("--cores", type=at_least(2), default=32)
    parser.add_argument("--pairs", type=at_least(1), default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path)
    return parser.parse_args()


def at_least(least: int):
    def number(text: str) -> int:
        value = int(text) if text.lstrip("-").isdigit() else None
        if value is None or value < least:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number of {least} or more")
        return value
    return number


if __name__ == "__main__":
    main()
