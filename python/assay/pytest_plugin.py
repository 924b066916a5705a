"""Testing a network as a test suite. Loaded by pytest where the package is installed, else with ``-p
assay.pytest_plugin``.

    @assay.pytest_plugin.gates("idc=0.35", "kmnc[layer=conv2]=60%")
    def test_coverage():
        return assay.cover("net.onnx", train="train.npz", test="test.npz", preset="all")

runs the analysis once, or once for each choice of fixtures and parameters, and is one test case a gate.
``--assay-report FILE.html`` writes all results of the session as one page; ``assay_results`` is a fixture that takes
further ones.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import pytest

from ._results import Result, save_report
from .errors import AssayError, UsageError, kind_of

__all__ = ["gates"]

_results: list[Result] = []
_trouble: list[str] = []  # why there is no report


def gates(*texts: str) -> Callable[[Callable[..., Result]], Any]:
    """A test function that returns a result becomes a test case for each gate (docs/gates.md)."""
    if not texts:
        raise UsageError("gates() needs at least one, such as 'idc=0.35'")

    def decorate(function: Callable[..., Result]) -> Any:
        own = [name for name, p in inspect.signature(function).parameters.items() if p.default is p.empty]
        runs: list[tuple[list[Any], Any]] = []  # with what they depend on, which lives as long: `is` needs that

        def result_of(bound: tuple[Any, ...], fixtures: dict[str, Any], parameters: dict[str, Any]) -> Any:
            key = [*bound, *fixtures.values(), *(value for name, value in parameters.items() if name != "gate")]
            for before, result in runs:
                if len(before) == len(key) and all(map(operator.is_, before, key)):
                    return result
            result = function(*bound, **fixtures)
            runs.append((key, result))
            if isinstance(result, Result):
                _results.append(result)
            return result

        @functools.wraps(function)
        def judged(*bound: Any, **given: Any) -> None:
            fixtures = {name: given[name] for name in own[len(bound) :]}
            result = result_of(bound, fixtures, given["request"].node.callspec.params)
            if not isinstance(result, Result):
                kind = "None" if result is None else kind_of(result)
                pytest.fail(
                    f"{function.__name__}() returned {kind}; under @gates a test returns what the analysis gave: "
                    "return assay.cover(...)",
                    pytrace=False,
                )
            judgement = result.gate(given["gate"])
            given["request"].node.user_properties.append(("assay_gate", judgement["described"]))
            assert judgement["passed"], f"{judgement['described']} {judgement['reason']}".strip()

        asked = [*own, *(name for name in ("gate", "request") if name not in own)]
        judged.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in asked]
        )
        return pytest.mark.parametrize("gate", texts)(judged)

    return decorate


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("assay").addoption(
        "--assay-report", metavar="FILE.html", help="write the results of Assay's analyses as one page"
    )


@pytest.fixture
def assay_results() -> list[Result]:
    """Results appended here are in the report of --assay-report."""
    return _results


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption("--assay-report")
    if not path or not _results:
        return
    try:
        save_report(path, _results)
    except (AssayError, OSError) as error:
        _trouble.append(str(error))
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    path = terminalreporter.config.getoption("--assay-report")
    if path and _trouble:
        terminalreporter.write_line(f"assay: no report: {_trouble[0]}", red=True)
    elif path:
        found = f"{len(_results)} results in {path}" if _results else "no results, no report"
        terminalreporter.write_line(f"assay: {found}")
