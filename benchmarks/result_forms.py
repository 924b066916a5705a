"""How quick what surrounds an analysis is: an extract for notebooks and logging, as shares of the analysis; opening a page
of 10,000 records in Chromium; how soon ``--watch`` notices a changed file.

    PYTHONPATH=build/release/python python3 benchmarks/result_forms.py [RECORDS] [PROGRAM]

Medians of five, by turns. Logging is in processor time: what Assay does, and what the tracker does in the calls that it is
given; beside it, a tracker's call for a single figure. A page counts from the start of the browser until its document is complete, less the same for an
empty page.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import assay
from assay import trackers

TURNS = 5


def seconds(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def processor_seconds(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def median(call, measured=seconds):
    return statistics.median(measured(call) for _ in range(TURNS))


class Charged:
    """A tracker, and what its own calls take: beginning a run, logging, ending it. Not the files that Assay writes."""

    def __init__(self, tracker):
        self.tracker, self.seconds = tracker, 0.0

    def timed(self):
        return dataclasses.replace(self.tracker, log=self.log, active=self.active, begun=self.begun)

    def charge(self, call):
        begin = time.process_time()
        try:
            return call()
        finally:
            self.seconds += time.process_time() - begin

    def active(self):
        return self.charge(self.tracker.active)

    def log(self, entry, to):
        self.charge(lambda: self.tracker.log(entry, to))

    @contextlib.contextmanager
    def begun(self, command):
        run = self.tracker.begun(command)
        yield self.charge(run.__enter__)
        self.charge(lambda: run.__exit__(None, None, None))


def shares_of_logging(result, tracker, files):
    """What Assay takes, files that it writes included, and what the tracker takes in its own calls."""
    charged = Charged(tracker)
    to, write = charged.timed(), trackers.Files.write

    def writing(*arguments):
        charged.seconds -= processor_seconds(lambda: write(*arguments))

    result.log(to=to, files=files)  # imports
    trackers.Files.write = writing
    ours, theirs = [], []
    try:
        for _ in range(TURNS):
            charged.seconds = 0.0
            whole = processor_seconds(lambda: result.log(to=to, files=files))
            theirs.append(charged.seconds)
            ours.append(whole - charged.seconds)
    finally:
        trackers.Files.write = write
    return statistics.median(ours), statistics.median(theirs)


def forms(network, records, folder):
    train, test = assay.data("digits:2000,range=0:1"), assay.data(f"digits:{records},seed=2,range=0:1")
    criteria = ["nc", "kmnc", "idc[m=4]"]
    result = assay.cover(network, train, test, criterion=criteria)
    analysis = median(lambda: assay.cover(network, train, test, criterion=criteria), processor_seconds)
    print(f"cover of {records} records: {analysis:.2f} s of processor time")
    print(f"  extract: {median(result._repr_html_, processor_seconds):.4f} s")
    nothing = trackers.Tracker(name="nothing", package="", objects="", remedy="", takes=lambda _: False, log=lambda entry, to: None)
    for tracker in (nothing, *(trackers.catalogue[name] for name in ("tensorboard", "mlflow"))):
        for files in (False, True):
            ours, theirs = shares_of_logging(result, tracker, files)
            print(f"  log to {tracker.name}, files={files}: Assay {ours:.4f} s ({ours / analysis:.1%}), the tracker {theirs:.4f} s")
    single_figure()


def single_figure():
    import mlflow

    with mlflow.start_run():
        print(f"  mlflow.log_metric alone: {median(lambda: mlflow.log_metric('figure', 1.0), processor_seconds):.4f} s")


def of_many_rows(result, records, folder):
    """Its greatest table, with its rows again and again."""
    document = json.loads(result.to_json())
    table = max(document["tables"].values(), key=lambda table: len(table["rows"]))
    table["rows"] = (table["rows"] * (records // len(table["rows"]) + 1))[:records]
    path = pathlib.Path(folder, "result.json")
    path.write_text(json.dumps(document))
    return assay.read_result(path)


def opened(page):
    browser = shutil.which("chromium")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    subprocess.run([browser, *flags, f"file://{page}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def pages(network, records, folder):
    result = of_many_rows(assay.select(network, assay.data("digits:2000,seed=2"), by="entropy", size=1000), records, folder)
    page, empty = pathlib.Path(folder, "page.html"), pathlib.Path(folder, "empty.html")
    result.save_html(page)
    empty.write_text("<!doctype html><title>empty</title>")
    print(f"page of {max(len(table) for table in result.tables.values())} rows, {page.stat().st_size / 1e6:.1f} MB")
    print(f"  opened {median(lambda: opened(page)):.2f} s, empty page {median(lambda: opened(empty)):.2f} s")


def watched(network, program, folder):
    model, data = os.path.join(folder, "net.onnx"), os.path.join(folder, "data.npz")
    network.save(model)
    subprocess.run([program, "data", "digits:50", "--write", data, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    running = subprocess.Popen([program, "evaluate", model, data, "--watch"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def until(words):
        while words not in running.stderr.readline():
            pass

    taken = []
    for _ in range(TURNS):
        until("watching")
        shutil.copyfile(data, data + ".new")
        begin = time.perf_counter()
        os.replace(data + ".new", data)
        until("changed:")
        taken.append(time.perf_counter() - begin)
    running.terminate()
    running.wait()
    print(f"watch notices a file after {statistics.median(taken):.2f} s, at most {max(taken):.2f} s")


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    program = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "build/release/bin/assay")
    network = assay.train("digits:300", architecture="lenet5", epochs=1).model
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        forms(network, records, folder)
        pages(network, records, folder)
        watched(network, program, folder)


if __name__ == "__main__":
    main()
