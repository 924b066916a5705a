"""Measures of affinity between units and hypotheses: SciPy and scikit-learn."""

import numpy as np
from scipy import stats
from sklearn import metrics

from coverage import DENSE, neurons
from suite import cell

MEASURES = "docs/algorithms/inspection-measures.md"


def scores_of(unit, holds):
    """Measures for a hypothesis that holds or not."""
    yes, no = unit[holds], unit[~holds]
    pooled = np.sqrt(((len(yes) - 1) * yes.var(ddof=1) + (len(no) - 1) * no.var(ddof=1)) / (len(unit) - 2))
    return {
        "pearson": (stats.pearsonr(unit, holds).statistic, "SciPy pearsonr"),
        "spearman": (stats.spearmanr(unit, holds).statistic, "SciPy spearmanr"),
        "mean_difference": (yes.mean() - no.mean(), "NumPy"),
        "cohen_d": ((yes.mean() - no.mean()) / pooled, "NumPy"),
        "auc": (metrics.roc_auc_score(holds, unit), "scikit-learn roc_auc_score"),
    }


def add(suite):
    s = suite.subjects
    units = neurons(s.net, DENSE, s.test_x)["fc3"]
    names = ["pearson", "spearman", "mean_difference", "cohen_d", "auc[bins=256]", "jaccard[quantile=0.2]"]
    question = suite.ask("affinity to classes", MEASURES, "inspect", model=["$/net.onnx"], data="$/test.npz",
                         units=["layer=fc3"], hypotheses="label", measure=",".join(names), **{"no-early-stop": "true"})
    spec = {name.split("[")[0]: name for name in names}
    for c in range(3):
        holds = s.test_y == c
        for unit in range(3):
            found = scores_of(units[:, unit], holds)
            above = units[:, unit] > np.sort(units[:, unit])[-1 - int(0.2 * len(units))]
            found["jaccard"] = (metrics.jaccard_score(holds, above), "scikit-learn jaccard_score")
            for name, (value, source) in found.items():
                question.expect(f"{name} of unit {unit} and class {c}", [f"measure:{name}", "hypothesis:label"],
                                cell("scores", "score", hypothesis=f"label:{c}", measure=spec[name], unit=unit), value, source, 1e-5)
    size = s.test_x[:, 0].astype(np.float64)
    question = suite.ask("affinity to a column", MEASURES, "inspect", model=["$/net.onnx"], data="$/test.npz",
                         units=["layer=fc1"], hypotheses="column[file=$/columns.csv,column=size]",
                         measure="pearson,spearman", **{"no-early-stop": "true"})
    hidden = neurons(s.net, DENSE, s.test_x)["fc1"]
    for unit in range(6):
        for name, test in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            question.expect(f"{name} of unit {unit}", [f"measure:{name}", "hypothesis:column"],
                            cell("scores", "score", hypothesis="size", measure=name, unit=unit),
                            test(hidden[:, unit], size).statistic, f"SciPy {name}r", 1e-5)
