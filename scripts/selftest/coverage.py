"""Every coverage criterion, from its definition in docs/algorithms/criteria.md, and clusters and surprise under them."""

import itertools

import numpy as np
from scipy import stats
from sklearn import metrics

from subjects import forward
from suite import cell, rows

CRITERIA, IDC, SURPRISE = "docs/algorithms/criteria.md", "docs/algorithms/idc.md", "docs/algorithms/surprise.md"
DENSE = {"fc1": "fc1.a", "fc2": "fc2.a", "fc3": "y"}
PAIRS = {"ss": ("sign", "sign"), "vs": ("value", "sign"), "sv": ("sign", "value"), "vv": ("value", "value")}
CONVOLUTIONAL = {"conv": "conv.a", "pool": "pool", "fc": "y"}


def neurons(model, layers, x):
    """Activations [records, neurons] by layer, as float32; of a channel the mean of its positions."""
    values = forward(model, x)
    return {layer: values[name].reshape(*values[name].shape[:2], -1).mean(2) for layer, name in layers.items()}


def maps(model, layers, x):
    values = forward(model, x)
    return {layer: values[name].reshape(len(x), -1) for layer, name in layers.items()}


def top(values, k, sign=1):
    """[records, k]: the greatest, ties to the lower index."""
    return np.argsort(-sign * values, axis=1, kind="stable")[:, :k]


class Measured:
    """Covered and coverable items of each criterion, by layer."""

    def __init__(self, model, layers, train, test):
        self.layers = layers
        self.train, self.test = neurons(model, layers, train), neurons(model, layers, test)
        self.maps = maps(model, layers, test)

    def by_layer(self, covered):
        """covered(layer): (covered, coverable) counts."""
        found = {layer: covered(layer) for layer in self.layers}
        found["all"] = tuple(sum(pair[i] for pair in found.values()) for i in (0, 1))
        return found

    def nc(self, threshold):
        def covered(layer):
            least, greatest = self.maps[layer].min(1)[:, None], self.maps[layer].max(1)[:, None]
            scaled = (self.test[layer] - least) / np.where(greatest > least, greatest - least, np.inf)
            assert np.abs(scaled - threshold).min() > 1e-5
            return int((scaled > threshold).any(0).sum()), scaled.shape[1]
        return self.by_layer(covered)

    def qnc(self, quantile):
        def covered(layer):
            ordered = np.sort(self.train[layer], axis=0)
            bound = ordered[int(np.ceil(quantile * len(ordered) - 1e-9)) - 1]
            return int((self.test[layer] > bound + 1e-9).any(0).sum()), len(bound)
        return self.by_layer(covered)

    def kmnc(self, sections):
        def covered(layer):
            low, high = self.train[layer].min(0), self.train[layer].max(0)
            place = sections * (self.test[layer] - low) / (high - low)
            inside = (self.test[layer] >= low) & (self.test[layer] <= high)
            which = np.minimum(sections - 1, np.floor(place))
            return sum(len(set(which[inside[:, n], n])) for n in range(len(low))), sections * len(low)
        return self.by_layer(covered)

    def corners(self, upper_only):
        def covered(layer):
            low, high = self.train[layer].min(0), self.train[layer].max(0)
            above = int((self.test[layer] > high + 1e-9).any(0).sum())
            below = 0 if upper_only else int((self.test[layer] < low - 1e-9).any(0).sum())
            return above + below, len(low) * (1 if upper_only else 2)
        return self.by_layer(covered)

    def ranked(self, k, sign):
        return self.by_layer(lambda layer: (len(set(top(self.test[layer], k, sign).ravel())), self.test[layer].shape[1]))

    def together(self, threshold):
        """Pairs of neurons of a layer that are both above the threshold on one record."""
        def covered(layer):
            active = (self.test[layer] > threshold).astype(int)
            pairs = np.triu_indices(active.shape[1], 1)
            return int((active.T @ active > 0)[pairs].sum()), len(pairs[0])
        return self.by_layer(covered)

    def patterns(self, k):
        sets = [[frozenset(row) for row in top(self.test[layer], k)] for layer in self.layers]
        return len(set(zip(*sets)))

    def nlc(self):
        return sum(np.abs(np.cov(self.test[layer].T, bias=True)).mean() for layer in self.layers)

    def pairs(self, cause, effect):
        """Pairs of neurons of consecutive layers: i changes between two records, all else in sign alike, and so j."""
        names, found = list(self.layers), {}
        for first, second in zip(names, names[1:]):
            a, b, covered = self.test[first], self.test[second], set()
            for r, q in itertools.combinations(range(len(a)), 2):
                flipped = np.flatnonzero((a[r] > 0) != (a[q] > 0))
                if len(flipped) != (1 if cause == "sign" else 0):
                    continue
                causes = flipped if cause == "sign" else np.flatnonzero(differ_in_value(a[r], a[q]))
                changed = (b[r] > 0) != (b[q] > 0) if effect == "sign" else differ_in_value(b[r], b[q])
                covered |= {(i, j) for i in causes for j in np.flatnonzero(changed)}
            found[f"{first} -> {second}"] = (len(covered), a.shape[1] * b.shape[1])
        found["all"] = tuple(sum(pair[i] for pair in found.values()) for i in (0, 1))
        return found


def differ_in_value(a, b):
    """One sign, and one is at least twice the other in size."""
    greater, less = np.maximum(abs(a), abs(b)), np.minimum(abs(a), abs(b))
    return ((a > 0) == (b > 0)) & (abs(a - b) > 1e-9) & (greater >= 2 * less)


def expect_counts(question, criterion, name, found, source="NumPy"):
    for layer, (covered, coverable) in found.items():
        question.expect(f"{criterion} of {layer}", [f"criterion:{name}"],
                        cell("criteria", "covered", criterion=criterion, layer=layer), covered, source)
        question.expect(f"items of {criterion} of {layer}", [f"criterion:{name}"],
                        cell("criteria", "coverable", criterion=criterion, layer=layer), coverable, source)


def structural(suite):
    s = suite.subjects
    specs = ["nc[threshold=0.6]", "qnc[quantile=0.9]", "kmnc[sections=7]", "nbc", "snac", "tknc[k=2]", "bknc[k=1]",
             "tknp[k=2]", "nlc", "pcc[threshold=0.5]"]
    for name, model, layers, train, test, files in [
            ("dense", s.net, DENSE, s.train_x, s.test_x, ("net.onnx", "train.npz", "test.npz")),
            ("convolution", s.conv, CONVOLUTIONAL, s.pictures_train, s.pictures_test,
             ("conv.onnx", "pictures-train.npz", "pictures.npz"))]:
        m = Measured(model, layers, train, test)
        question = suite.ask(f"coverage {name}", CRITERIA, "cover", model=f"$/{files[0]}", train=f"$/{files[1]}",
                             test=f"$/{files[2]}", criterion=specs + list(PAIRS if name == "dense" else ()))
        for criterion, found in [(specs[0], m.nc(0.6)), (specs[1], m.qnc(0.9)), (specs[2], m.kmnc(7)),
                                 (specs[3], m.corners(False)), (specs[4], m.corners(True)), (specs[5], m.ranked(2, 1)),
                                 (specs[6], m.ranked(1, -1)), (specs[9], m.together(0.5))]:
            expect_counts(question, criterion, criterion.split("[")[0], found)
        question.expect("patterns of the 2 most active", ["criterion:tknp"],
                        cell("criteria", "measure", criterion=specs[7], layer="all"), m.patterns(2), "NumPy")
        question.expect("mean absolute covariance", ["criterion:nlc"],
                        cell("criteria", "measure", criterion="nlc", layer="all"), m.nlc(), "NumPy cov", 1e-5)
        if name == "dense":
            for criterion, (cause, effect) in PAIRS.items():
                expect_counts(question, criterion, criterion, m.pairs(cause, effect))


def best_partition(values, k):
    """The contiguous parts of sorted values with the least sum of squares, by plain dynamic programming."""
    n = len(values)
    total, square = np.concatenate([[0], np.cumsum(values)]), np.concatenate([[0], np.cumsum(values ** 2)])

    def cost(i, j):
        return square[j] - square[i] - (total[j] - total[i]) ** 2 / (j - i)

    best, cut = [[np.inf] * (n + 1) for _ in range(k + 1)], [[0] * (n + 1) for _ in range(k + 1)]
    best[0][0] = 0
    for part in range(1, k + 1):
        for j in range(part, n + 1):
            options = [best[part - 1][i] + cost(i, j) for i in range(part - 1, j)]
            cut[part][j] = part - 1 + int(np.argmin(options))
            best[part][j] = min(options)
    labels, end = np.zeros(n, int), n
    for part in range(k, 0, -1):
        labels[cut[part][end]:end] = part - 1
        end = cut[part][end]
    return labels


def centroids_of(values):
    """Of k = 2, 3, 4 the one with the best mean silhouette, and that silhouette."""
    ordered, found = np.sort(values), None
    for k in (2, 3, 4):
        labels = best_partition(ordered, k)
        score = metrics.silhouette_score(ordered[:, None], labels, metric="manhattan")
        if found is None or score > found[0]:
            found = (score, [ordered[labels == c].mean() for c in range(k)])
    return found


def combinations_of(activations, centroids):
    nearest = [np.abs(activations[:, [n]] - np.array(c)[None]).argmin(1) for n, c in enumerate(centroids)]
    return list(zip(*(row.tolist() for row in nearest)))


def epsilon_relevance(suite):
    """Summed LRP-epsilon of fc2 over the right training records, by captum."""
    from relevance import hidden_relevance
    s = suite.subjects
    return hidden_relevance(s.net, s.train_x, s.train_y, "fc2")


def importance_driven(suite):
    s = suite.subjects
    train, test = (neurons(s.net, DENSE, x)["fc2"] for x in (s.train_x, s.test_x))
    order = np.argsort(-epsilon_relevance(suite), kind="stable")
    question = suite.ask("importance-driven coverage", IDC, "cover", model="$/net.onnx", train="$/train.npz",
                         test="$/test.npz", layer="fc2", criterion=["idc[m=2]", "idc[m=4]", "tidc[m=4,t=2]", "aidc[m=4]"])
    found = [centroids_of(train[:, n]) for n in order[:4]]
    for rank, (n, (silhouette, _)) in enumerate(zip(order, found), 1):
        question.expect(f"silhouette of the clusters of neuron {n}", ["criterion:idc", "clusterer:kmeans"],
                        cell("clusters", "silhouette", layer="fc2", rank=rank, neuron=n), silhouette,
                        "plain dynamic programming, scikit-learn silhouette_score", 1e-5)
    centroids = [c for _, c in found]
    trained, covered = (combinations_of(x[:, order[:4]], centroids) for x in (train, test))
    for m in (2, 4):
        expect_counts(question, f"idc[m={m}]", "idc", {"fc2": (
            len({c[:m] for c in covered}), int(np.prod([len(c) for c in centroids[:m]])))}, "captum, scikit-learn, NumPy")
    pairs = [(i, j) for i in range(4) for j in range(i)]
    expect_counts(question, "tidc[m=4,t=2]", "tidc", {"fc2": (
        sum(len({(c[i], c[j]) for c in covered}) for i, j in pairs),
        sum(len(centroids[i]) * len(centroids[j]) for i, j in pairs))}, "captum, scikit-learn, NumPy")
    expect_counts(question, "aidc[m=4]", "aidc", {"fc2": (len(set(covered)), len(set(covered) | set(trained)))},
                  "captum, scikit-learn, NumPy")


def surprise(suite):
    s = suite.subjects
    train, test = (neurons(s.net, DENSE, x)["fc3"] for x in (s.train_x, s.test_x))
    of_train, of_test = (forward(s.net, x)["y"].argmax(1) for x in (s.train_x, s.test_x))
    values = {"lsa": [], "dsa": [], "mdsa": []}
    for x, c in zip(test, of_test):
        own, others = train[of_train == c], train[of_train != c]
        values["lsa"].append(-stats.gaussian_kde(own.T).logpdf(x)[0])
        distance = np.linalg.norm(own - x, axis=1)
        nearest = own[distance.argmin()]
        values["dsa"].append(distance.min() / np.linalg.norm(others - nearest, axis=1).min())
        off = x - own.mean(0)
        values["mdsa"].append(np.sqrt(off @ np.linalg.inv(np.cov(own.T)) @ off))
    question = suite.ask("surprise", SURPRISE, "cover", model="$/net.onnx", train="$/train.npz", test="$/test.npz",
                         layer="fc3", criterion=["lsc[buckets=20,lower=-5,upper=15]", "dsc[buckets=20,upper=2]",
                                                 "mdsc[buckets=20,upper=10]"], records="40")
    sources = {"lsa": "SciPy gaussian_kde", "dsa": "NumPy", "mdsa": "NumPy cov, inv"}
    limits = {"lsa": (-5, 15), "dsa": (0, 2), "mdsa": (0, 10)}
    for name, found in values.items():
        low, high = limits[name]
        bucket = np.ceil((np.array(found) - low) / (high - low) * 20)
        criterion = {"lsa": "lsc[buckets=20,lower=-5,upper=15]", "dsa": "dsc[buckets=20,upper=2]",
                     "mdsa": "mdsc[buckets=20,upper=10]"}[name]
        expect_counts(question, criterion, criterion[:criterion.index("[")],
                      {"fc3": (len({b for b in bucket if 1 <= b <= 20}), 20)}, sources[name])
        for record in np.argsort(found)[::-1][:4]:
            question.expect(f"{name} of record {record}", [f"criterion:{criterion[:criterion.index('[')]}"],
                            cell("records", name, record=record), found[record], sources[name], 1e-3)


def selected(suite):
    """Orders of records by doubt, and the smallest subset with the same coverage."""
    s = suite.subjects
    out = forward(s.net, s.test_x)["y"]
    p = np.exp(out - out.max(1)[:, None])
    p /= p.sum(1)[:, None]
    ordered = np.sort(p, axis=1)
    doubts = {"deepgini": 1 - (p ** 2).sum(1), "entropy": -(p * np.log(p)).sum(1),
              "margin": 1 - (ordered[:, -1] - ordered[:, -2]), "max-softmax": 1 - ordered[:, -1]}
    wrong = out.argmax(1) != s.test_y
    for name, doubt in doubts.items():
        position = np.argsort(np.argsort(-doubt, kind="stable"), kind="stable") + 1
        n, k = len(doubt), int(wrong.sum())
        question = suite.ask(f"order by {name}", "docs/algorithms/selection.md", "select", model="$/net.onnx",
                             test="$/test.npz", by=name)
        question.expect("APFD", [f"doubt:{name}"], {"column": "apfd"}, 1 - position[wrong].sum() / (k * n) + 1 / (2 * n),
                        "NumPy", 1e-9)


def add(suite):
    for part in (structural, importance_driven, surprise, selected):
        part(suite)
