"""Reads the record of an application (`spark.slaq.explain.path`): what was planned, and what ran."""

import json
import pathlib


class Record:
    def __init__(self, path: pathlib.Path):
        self.lines = [json.loads(line) for line in path.read_text().splitlines()]

    def kind(self, kind: str) -> list[dict]:
        return [line for line in self.lines if line["kind"] == kind]

    def run(self, kind: str, name: str) -> dict:
        """The start or finish line of the run of this name."""
        (line,) = [line for line in self.kind(kind) if line["name"] == name]
        return line

    def spans(self, *names: str) -> list[tuple[float, dict, dict]]:
        """Times between two plans in which all these runs were planned for: seconds, shares of the first, the second."""
        found = []
        for before, after in zip(self.kind("plan"), self.kind("plan")[1:]):
            if all(any(r["name"] == n for r in plan["runs"]) for plan in (before, after) for n in names):
                found.append((after["time"] - before["time"], before, after))
        return found

    def means(self, name: str, *others: str) -> tuple[float, float]:
        """Mean share and mean running tasks of a run, over the time that it had together with others."""
        spans = self.spans(name, *others)
        total = sum(seconds for seconds, _, _ in spans)
        of = lambda plan: next(r for r in plan["runs"] if r["name"] == name)
        share = sum(seconds * of(before)["share"] for seconds, before, _ in spans) / total
        running = sum(seconds * of(after)["running"] for seconds, _, after in spans) / total
        return share, running
