"""Functions without checks in the suite, and why."""

RANDOM = "it draws at random; its laws and a second implementation are in the project's tests"
NAMED = "only names and explains; nothing is computed"
OTHERS = "not in the suite; compared with a second implementation in the project's tests"

REASONS = {
    "command:demo": "an example that runs what the suite checks",
    "command:retrain": "it trains several times at random; its parts (train, attack, evaluate) are checked",
    "command:audit": "it draws subsets at random; what it counts (coverage, mutants, errors) is checked",
    "command:polluted": OTHERS,
    "command:report": "only shows results", "command:open": "only shows results",
    "command:history": "keeps figures of results and compares them; nothing is measured",
    "command:faithful": OTHERS, "command:patch": OTHERS,
    "command:evidence": "runs other commands and copies their results; `assay verify` checks what it wrote",
    "command:verify": "compares files and runs other commands again",
    "command:selftest": "this is it; the project's tests plant wrong values and see them fail",
    "command:criteria": NAMED, "command:operators": NAMED, "command:attacks": NAMED, "command:constraints": NAMED,
    "command:hypotheses": NAMED, "command:measures": NAMED, "command:tasks": NAMED,
    "attack:*": RANDOM, "operator:*": RANDOM, "sampler:*": RANDOM, "initialiser:*": RANDOM,
    "criterion:*": OTHERS, "attribution:*": OTHERS, "rule:*": OTHERS, "clusterer:*": OTHERS, "constraint:*": OTHERS,
    "hypothesis:*": OTHERS, "measure:*": OTHERS, "task:*": OTHERS, "doubt:*": OTHERS, "format:*": OTHERS,
    "architecture:*": "only says which layers a network has", "optimiser:*": OTHERS, "loss:*": OTHERS,
    "regulariser:*": OTHERS, "rendering:*": "only shows results; checked against schemas in the project's tests",
}


def add(suite):
    suite.not_covered.update(REASONS)
