"""Forward, evaluate, reliability, robust statistics: onnxruntime, scikit-learn, SciPy."""

import numpy as np
from scipy import ndimage, optimize, special, stats
from sklearn import metrics

from subjects import arrays_of, scores
from suite import cell, fact, rows

LABELLED = "docs/tasks.md"


def right(model, x, y):
    return scores(model, x).argmax(1) == y


def forward(suite):
    s = suite.subjects
    for name, file, model, x in [("dense", "net", s.net, s.test_x), ("convolution", "conv", s.conv, s.pictures_test)]:
        data = "pictures.npz" if file == "conv" else "test.npz"
        y = s.pictures_test_y if file == "conv" else s.test_y
        question = suite.ask(f"evaluate {name}", LABELLED, "evaluate", model=f"$/{file}.onnx", data=f"$/{data}")
        out = scores(model, x)
        probabilities = special.softmax(out.astype(np.float64), axis=1)
        question.expect("accuracy", ["task:classes", "format:numpy"], fact("test_accuracy"),
                        metrics.accuracy_score(y, out.argmax(1)), "onnxruntime, scikit-learn accuracy_score", 1e-12)
        question.expect("negative log-likelihood", ["task:classes"], fact("negative_log_likelihood"),
                        metrics.log_loss(y, probabilities), "scikit-learn log_loss", 1e-5)
        question.expect("Brier score", ["task:classes"], fact("brier"),
                        ((probabilities - np.eye(3)[y]) ** 2).sum(1).mean(), "NumPy", 1e-5)
        question.expect("calibration error", ["task:classes"], fact("calibration_error"),
                        calibration_error(probabilities, y), "NumPy", 1e-5)
        matrix = metrics.confusion_matrix(y, out.argmax(1), labels=range(3))
        for c in range(3):
            question.expect(f"right records of class {c}", ["task:classes"], cell("classes", "correct", **{"class": c}),
                            int(matrix[c, c]), "scikit-learn confusion_matrix")
            for d in range(3):
                if c != d and matrix[c, d]:
                    question.expect(f"class {c} taken for {d}", ["task:classes"],
                                    cell("confusions", "records", expected=c, predicted=d), int(matrix[c, d]),
                                    "scikit-learn confusion_matrix")


def calibration_error(probabilities, y, bins=15):
    confidence, correct = probabilities.max(1), probabilities.argmax(1) == y
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(abs(confidence[which == b].mean() - correct[which == b].mean()) * (which == b).mean()
               for b in range(bins) if (which == b).any())


def regression(suite):
    s = suite.subjects
    question = suite.ask("evaluate regression", LABELLED, "evaluate", model="$/regression.onnx", data="$/targets.npz")
    out = scores(s.regression, s.test_x)
    question.expect("mean squared error", ["task:regression"], fact("test_mean_squared_error"),
                    metrics.mean_squared_error(s.targets, out), "onnxruntime, scikit-learn", 1e-6)
    question.expect("mean absolute error", ["task:regression"],
                    cell("criteria", "measure", criterion="mean-absolute-error[target=0]"),
                    metrics.mean_absolute_error(s.targets, out), "onnxruntime, scikit-learn", 1e-6)
    question.expect("greatest error", ["task:regression"],
                    cell("criteria", "measure", criterion="greatest-error[target=0]"),
                    metrics.max_error(s.targets, out), "onnxruntime, scikit-learn max_error", 1e-5)


def reliability(suite):
    s = suite.subjects
    question = suite.ask("failures in operation", "docs/assurance.md", "reliability", model="$/net.onnx",
                         test="$/test.npz", calibration="$/train.npz", twin=["$/twin.onnx"], train="$/train.npz")
    correct = right(s.net, s.test_x, s.test_y)
    failures, n = int((~correct).sum()), len(correct)
    interval = stats.binomtest(failures, n).proportion_ci(0.95, "exact")
    exact, source = "SciPy binomtest (Clopper-Pearson)", "SciPy beta.ppf"
    question.expect("failures", [], fact("failures"), failures, "onnxruntime")
    question.expect("lower end", [], fact("low"), interval.low, exact, 1e-9)
    question.expect("upper end", [], fact("high"), interval.high, exact, 1e-9)
    question.expect("upper bound", [], fact("upper"), stats.beta.ppf(0.95, failures + 1, n - failures), source, 1e-9)
    question.expect("Hoeffding's bound", [], cell("bounds", "value", bound="test set, Hoeffding"),
                    failures / n + np.sqrt(np.log(1 / 0.05) / (2 * n)), "NumPy", 1e-9)
    logits = scores(s.net, s.train_x).astype(np.float64)
    fitted = optimize.minimize_scalar(lambda t: metrics.log_loss(s.train_y, special.softmax(logits / np.exp(t), axis=1)),
                                      bounds=(-4, 4), method="bounded", options={"xatol": 1e-10})
    question.expect("temperature", [], fact("temperature"), float(np.exp(fitted.x)), "SciPy minimize_scalar", 1e-3)
    ours, other = scores(s.net, s.test_x).argmax(1), scores(s.twin, s.test_x).argmax(1)
    accuracies = [np.mean(ours == s.test_y), np.mean(other == s.test_y)]
    question.expect("deviation over training seeds", [], fact("seed_deviation"), np.std(accuracies, ddof=1), "NumPy", 1e-9)
    question.expect("disagreement of training seeds", [], fact("seed_disagreement"), np.mean(ours != other),
                    "onnxruntime, NumPy", 1e-9)
    question.expect("leaked records", [], fact("leaked_exactly"),
                    sum(any(np.array_equal(a, b) for b in s.train_x) for a in s.test_x), "NumPy")


def monitor(suite):
    s = suite.subjects
    for score in ("energy", "max-logit"):
        question = suite.ask(f"monitor {score}", "docs/monitor.md", "monitor", model="$/net.onnx", test="$/test.npz",
                             calibration="$/train.npz", score=score, false_alarms="0.1", foreign=["$/linear.npz"])
        foreign = {"energy": lambda z: -special.logsumexp(z, axis=1), "max-logit": lambda z: -z.max(1)}[score]
        calibration = np.sort(foreign(scores(s.net, s.train_x).astype(np.float64)))
        threshold = calibration[int(np.ceil((len(calibration) + 1) * 0.9)) - 1]
        usual = foreign(scores(s.net, s.test_x).astype(np.float64))
        question.expect("threshold", [], fact("threshold"), threshold, "SciPy logsumexp, NumPy", 1e-5)
        question.expect("false alarms", [], fact("false_alarms"), np.mean(usual > threshold), "NumPy", 1e-9)


def contrast(x, amount):
    mean = x.mean((2, 3), keepdims=True)
    return (x - mean) * amount + mean


CHANGES = {
    "brightness": ((0, 0.25, 0.5), lambda x, amount: x + amount, "NumPy"),
    "contrast": ((0.25, 0.5), contrast, "NumPy"),
    "blur": ((0.5, 1), lambda x, sigma: ndimage.gaussian_filter(x, (0, 0, sigma, sigma), mode="nearest", truncate=4),
             "SciPy gaussian_filter"),
}


def robust(suite):
    s = suite.subjects
    clean = right(s.conv, s.pictures_test, s.pictures_test_y)
    for name, (amounts, change, source) in CHANGES.items():
        question = suite.ask(f"drop curve of {name}", "docs/robustness.md", "robust", model="$/conv.onnx",
                             data="$/pictures.npz,range=0:1", along=[f"{name}[amount={'/'.join(map(str, amounts))}]"])
        accuracies = []
        for amount in amounts:
            changed = np.clip(change(s.pictures_test.astype(np.float64), amount), 0, 1)
            correct = clean & right(s.conv, changed, s.pictures_test_y)
            accuracies.append(correct.mean())
            interval = stats.binomtest(int(correct.sum()), len(correct)).proportion_ci(0.95, "wilson")
            at = {"curve": name, "severity": repr(amount)}
            question.expect(f"accuracy at {amount}", [f"attack:{name}"], cell("severities", "accuracy", **at),
                            correct.mean(), f"onnxruntime, {source}", 1e-9)
            question.expect(f"lower end at {amount}", [], cell("severities", "low", **at), interval.low,
                            "SciPy binomtest (Wilson)", 1e-9)
        question.expect("area", [], cell("curves", "area", curve=name),
                        np.trapezoid(accuracies, amounts) / (amounts[-1] - amounts[0]), "NumPy trapezoid", 1e-9)


def add(suite):
    for part in (forward, regression, reliability, monitor, robust):
        part(suite)
