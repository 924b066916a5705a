"""Long calls: progress, Ctrl-C, threads; nothing leaks, and torch lives beside."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import assay


def test_progress_is_told_to_a_function(model, arrays):
    told = []
    assay.evaluate(model, arrays, progress=lambda stage, done, total: told.append((stage, done, total)))
    assert ("evaluating", 0, 60) in told and ("evaluating", 60, 60) in told


def test_progress_by_tqdm_or_lines(model, arrays, capsys):
    assay.evaluate(model, arrays, progress=True)
    assert "evaluating" in capsys.readouterr().err


def test_an_exception_of_progress_ends_the_work(model, arrays):
    def listener(stage, done, total):
        raise LookupError(stage)

    with pytest.raises(LookupError, match="evaluating"):
        assay.evaluate(model, arrays, progress=listener)
    assert assay.evaluate(model, arrays).facts["records"] == 60


def test_an_exception_of_progress_at_the_end_arrives(model, arrays):
    def listener(stage, done, total):
        if done == total:
            raise LookupError(stage)

    with pytest.raises(LookupError, match="evaluating"):
        assay.evaluate(model, arrays, progress=listener)
    with pytest.raises(LookupError, match="activations"):
        model.activations(arrays[0], "conv1", progress=listener)


def test_other_threads_run_during_work(model):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            stop.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    assay.evaluate(model, "digits:2000")
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(begin < t < end for t in ticks) >= 3


def test_questions_of_several_threads_wait_for_each_other(model, arrays):
    found = []
    threads = [threading.Thread(target=lambda: found.append(assay.evaluate(model, arrays).facts)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(facts == found[0] for facts in found)


def test_a_question_within_a_callback(model, arrays):
    class Asking(assay.Criterion):
        def __init__(self, layers, options):
            self.accuracy = 0.0

        def observe(self, batch):
            self.accuracy = assay.evaluate(model, arrays).facts["test_accuracy"]

        def merge(self, other):
            self.accuracy = max(self.accuracy, other.accuracy)

        def result(self):
            return self.accuracy

        def save(self):
            return self.accuracy

    found = assay.cover(model, "digits:50", arrays, criterion=Asking)
    assert found.asking == assay.evaluate(model, arrays).facts["test_accuracy"]


def test_control_c_stops_cleanly(model, arrays):
    def press(stage, done, total):
        if done > 0:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        assay.mutate(model, arrays, operator="gf", count=40, progress=press)
    assert signal.getsignal(signal.SIGINT) is before
    assert assay.evaluate(model, arrays).facts["records"] == 60


def test_control_c_in_a_thread_of_its_own_is_that_of_the_main_thread():
    script = """
import assay, os, signal, threading
def work():
    try:
        while True: assay.evaluate(assay.load("net.onnx"), "digits:100")
    except BaseException as error: print(type(error).__name__)
thread = threading.Thread(target=work, daemon=True); thread.start()
try:
    os.kill(os.getpid(), signal.SIGINT); thread.join(5)
except KeyboardInterrupt: print("main interrupted")
os._exit(0)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "main interrupted" in found.stdout or found.stdout == ""


def test_notices_are_warnings(tmp_path):
    assert issubclass(assay.AssayWarning, UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assay.data(np.zeros((2, 2), np.float32))


@pytest.mark.parametrize("order", ["import assay, torch", "import torch, assay"])
def test_assay_and_torch_in_one_process(order, work):
    pytest.importorskip("torch")
    script = f"""
{order}
import numpy as np
x = torch.rand(8, 1, 28, 28)
a = assay.load("net.onnx").activations(x, "conv1")
net = torch.nn.Conv2d(1, 4, 5); y = net(x); y.sum().backward()
assert net.weight.grad is not None and torch.linalg.svd(torch.rand(4, 4))[1].numel() == 4
print(a.shape, assay.evaluate("net.onnx", "test.npz").facts["records"])
"""
    found = subprocess.run([sys.executable, "-c", script], cwd=work, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.endswith(" 60\n")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_nothing_leaks(model, arrays):
    import gc

    x, y = arrays
    x, y = np.repeat(x, 4, 0), np.repeat(y, 4)  # 750 KiB: 1,000 lost copies would be seen

    def once():
        data = assay.data(x, y, ids=[str(i) for i in range(len(x))])
        data.read([0, 1])
        data[:5].hash
        with pytest.raises(assay.UsageError):
            assay.data(x.astype(np.complex64))
        with pytest.raises(assay.UsageError):
            assay.cover(model, data, data, criterion="no-such")

    def question():
        assay.data((x[i : i + 60] for i in range(0, 240, 60)))
        found = assay.evaluate(model, assay.data(x[:20], y[:20]))
        found.to_json(), found.document
        model.activations(x[:10], "conv1")

    for _ in range(50):
        once()
    for _ in range(5):
        question()
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    files = len(os.listdir("/proc/self/fd"))
    for _ in range(1000):
        once()
    for _ in range(200):
        question()
    gc.collect()
    assert resident() - before < 30 << 20
    assert len(gc.get_objects()) - objects < 250
    assert len(os.listdir("/proc/self/fd")) == files
    assert sys.getrefcount(x) < 10


FORKED = """
import multiprocessing, sys
import assay

model = assay.load(sys.argv[1], threads=2)
records = assay.data("digits:20")
ask = lambda model: model.predict(records)[1].tolist()
said = ask(model)

def child(queue):
    queue.put(ask(model))
    queue.put(ask(assay.load(sys.argv[1], threads=1)))

context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
process = context.Process(target=child, args=(queue,))
process.start()
assert queue.get() == said
assert queue.get() == said
"""


def test_a_forked_process_runs_networks(work):
    subprocess.run([sys.executable, "-c", FORKED, "net.onnx"], cwd=work, check=True, timeout=100)


ENDS = {
    "global": """
network = assay.load("net.onnx"); data = assay.data("test.npz"); result = assay.evaluate(network, data)
""",
    "exception": """
def ask():
    network = assay.load("net.onnx")
    raise SystemExit(assay.evaluate(network, "test.npz").facts["records"] - 60)
ask()
""",
    "class of one's own": """
def ask():
    network = assay.load("net.onnx")
    class Mine(assay.Attack):
        asked = []
        def perturb(self, attacked, problem):
            self.asked.append((attacked, network))
            return problem.inputs
    def halves(values, min_k, max_k):
        return [0.0, float(network.parameters)]
    assay.attack(network, "test.npz", attack=Mine())
    assay.cover(network, "train.npz", "test.npz", criterion="idc[m=3]", clusterer=halves)
ask()
""",
    "thread that nobody waits for": """
import threading, time
def ask(done):
    network = assay.load("net.onnx")
    done.set()
    time.sleep(100)
done = threading.Event()
threading.Thread(target=ask, args=(done,), daemon=True).start()
done.wait()
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_python_ends_in_silence(work, end):
    ran = subprocess.run([sys.executable, "-c", "import assay\n" + ENDS[end]], cwd=work, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
