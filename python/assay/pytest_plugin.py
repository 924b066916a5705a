"""Testing a network as a test suite. Loaded by pytest where the package is installed, else with ``-p
assay.pytest_plugin``.

    @assay.pytest_plugin.gates("idc=0.35", "kmnc[layer=conv2]=60%")
    def test_coverage():
        return assay.cover("net.onnx", train="train.npz", test="test.npz", preset="all")

runs the analysis once and is one test case a gate. ``--assay-report FILE.html`` writes all results of the session as one
page; ``assay_results`` is a fixture that takes further ones.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from ._results import Result, save_report
from .errors import UsageError

__all__ = ["gates"]

_results: list[Result] = []


def gates(*texts: str) -> Callable[[Callable[..., Result]], Any]:
    """A test function that returns a result becomes a test case for each gate (docs/gates.md)."""
    if not texts:
        raise UsageError("gates() needs at least one, such as 'idc=0.35'")

    def decorate(function: Callable[..., Result]) -> Any:
        found: dict[tuple[Any, ...], Result] = {}

        @functools.wraps(function)
        def judged(*, gate: str, record_property: Callable[[str, object], None], **fixtures: Any) -> None:
            key = tuple(id(value) for value in fixtures.values())
            if key not in found:
                found[key] = function(**fixtures)
                _results.append(found[key])
            judgement = found[key].gate(gate)
            record_property("assay_gate", judgement["described"])
            assert judgement["passed"], f"{judgement['described']} {judgement['reason']}".strip()

        import inspect

        own = list(inspect.signature(function).parameters.values())
        more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in ("gate", "record_property")]
        judged.__signature__ = inspect.Signature([p.replace(kind=p.KEYWORD_ONLY) for p in own] + more)  # type: ignore[attr-defined]
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
    if path and _results:
        save_report(path, _results)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    path = terminalreporter.config.getoption("--assay-report")
    if path and _results:
        terminalreporter.write_line(f"assay: {len(_results)} results in {path}")
