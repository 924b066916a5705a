"""Gates in continuous integration: ``python3 -m assay.ci`` runs one command with gates and leaves what a pipeline shows.

Usage: python3 -m assay.ci [SETTING...] [-- FLAG...]
The folder of results then holds result.json, report.html, summary.md, result.sarif and junit.xml. Flags after ``--`` go to
the program as they are. Each setting may also be a variable of the environment: --model is ASSAY_CI_MODEL. Lists have one
entry a line there.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Optional

from ._program import program_file

# What the program is asked to write, by flag.
_outputs = {"--json": "result.json", "--html": "report.html", "--markdown": "summary.md", "--sarif": "result.sarif", "--junit": "junit.xml"}
_gates_failed = 2


def _setting(name: str) -> str:
    return os.environ.get("ASSAY_CI_" + name.upper().replace("-", "_"), "").strip()


def _is_on(text: str) -> bool:
    return text.lower() in {"1", "true", "yes", "on"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m assay.ci", description="Runs a command of Assay with gates, for continuous integration.")

    def add(name: str, text: str, fallback: str = "", short: Optional[str] = None) -> None:
        names = [f"--{name}"] if short is None else [short, f"--{name}"]
        parser.add_argument(*names, default=_setting(name) or fallback, metavar=name.upper(), help=text)

    add("command", "command of the program (default: cover)", "cover")
    add("model", "the network")
    add("train", "training records, from which `cover` learns its profile")
    add("test", "test records")
    parser.add_argument("--gate", action="append", metavar="GATE", help="a gate, such as 'idc[m=6]=0.35'; may be repeated")
    add("baseline", "result of an earlier run (JSON): no figure may be worse; a file that is missing is not yet a baseline")
    parser.add_argument(
        "--ratchet", action="store_true", default=_is_on(_setting("ratchet")), help="where all gates hold, the result becomes the baseline"
    )
    add("profiles", "folder in which learned profiles are kept from run to run")
    add("out", "folder of results (default: assay-results)", "assay-results")
    parser.add_argument("--key", action="store_true", help="only print the key under which a cache should keep the profiles")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="further flags of the program, after --")
    return parser


def _settings(arguments: Optional[Sequence[str]]) -> argparse.Namespace:
    settings = _parser().parse_args(arguments)
    if settings.gate is None:
        settings.gate = [line.strip() for line in _setting("gates").splitlines() if line.strip()]
    settings.flags = settings.flags or shlex.split(_setting("flags"))
    if settings.ratchet and not settings.baseline:
        sys.exit("assay.ci: --ratchet keeps a result as the baseline; name the file with --baseline")
    return settings


def _file_of(spec: str) -> pathlib.Path:
    """The file or folder that a spec of data names: what stands before its options."""
    if spec.startswith('"') and '"' in spec[1:]:
        return pathlib.Path(spec[1:].split('"')[0])
    return pathlib.Path(spec.split(",")[0].split("[")[0])


def _add_content(hasher: "hashlib._Hash", path: pathlib.Path) -> None:
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            hasher.update(f"{file.relative_to(path)} {file.stat().st_size}\n".encode())
            with file.open("rb") as content:
                while block := content.read(1 << 20):
                    hasher.update(block)


def profile_key(settings: argparse.Namespace, version: str) -> str:
    """Differs where network, training records, flags or program do: a profile of one is not for the other."""
    hasher = hashlib.sha256("\n".join([version, settings.command, settings.train, *settings.flags]).encode())
    for spec in (settings.model, settings.train):
        _add_content(hasher, _file_of(spec))
    return hasher.hexdigest()[:32]


def _profile_flags(settings: argparse.Namespace, key: Callable[[], str]) -> list[str]:
    trained = ["--train", settings.train] if settings.train else []
    if settings.command != "cover" or not settings.profiles:
        return trained
    folder = pathlib.Path(settings.profiles)
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / f"{key()}.profile"
    return ["--profile", str(profile)] if profile.exists() else [*trained, "--profile", str(profile)]


def _baseline_flags(settings: argparse.Namespace) -> list[str]:
    if not settings.baseline:
        return []
    if os.path.exists(settings.baseline):
        return ["--no-worse-than", settings.baseline]
    print(f"assay.ci: {settings.baseline} does not exist; figures are not compared with a baseline", file=sys.stderr)
    return []


def _data_flag(command: str) -> str:
    return "--test" if command in {"cover", "mutate", "select", "audit", "prune", "retrain"} else "--data"


def command_line(settings: argparse.Namespace, program: str, key: Callable[[], str]) -> list[str]:
    """The program with all its arguments."""
    line = [program, settings.command]
    for flag, value in (("--model", settings.model), (_data_flag(settings.command), settings.test)):
        line += [flag, value] if value else []
    line += _profile_flags(settings, key) + _baseline_flags(settings)
    for gate in settings.gate:
        line += ["--fail-under", gate]
    for flag, name in _outputs.items():
        line += [flag, os.path.join(settings.out, name)]
    return [*line, "--quiet", *settings.flags]


def _summary(settings: argparse.Namespace, line: Sequence[str], said: str) -> str:
    written = pathlib.Path(settings.out, _outputs["--markdown"])
    if written.exists():
        return written.read_text(encoding="utf-8")
    shown = "\n".join("    " + text for text in [shlex.join(line), *said.splitlines()])
    return f"## Assay {settings.command} did not finish\n\n{shown}\n"


def _show(settings: argparse.Namespace, line: Sequence[str], said: str) -> None:
    """Adds to the summary of a job, where the service has one."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(_summary(settings, line, said) + "\n")


def _keep_as_baseline(settings: argparse.Namespace) -> None:
    new = settings.baseline + ".new"
    shutil.copyfile(os.path.join(settings.out, _outputs["--json"]), new)
    os.replace(new, settings.baseline)
    print(f"assay.ci: the result is the baseline now: {settings.baseline}", file=sys.stderr)


def _fresh(folder: str) -> None:
    """Results of an earlier run must not be taken for those of this one."""
    os.makedirs(folder, exist_ok=True)
    for name in _outputs.values():
        pathlib.Path(folder, name).unlink(missing_ok=True)


def _version(program: str) -> str:
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout


def _program() -> str:
    program = program_file()
    if program is None:
        sys.exit("assay.ci: the program 'assay' is neither next to this package nor in PATH; install the wheel")
    return program


def main(arguments: Optional[Sequence[str]] = None) -> int:
    settings = _settings(arguments)
    program = _program()

    def key() -> str:
        return profile_key(settings, _version(program))

    if settings.key:
        print(key())
        return 0
    _fresh(settings.out)
    line = command_line(settings, program, key)
    print("+ " + shlex.join(line), file=sys.stderr, flush=True)
    ended = subprocess.run(line, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(ended.stderr)
    _show(settings, line, ended.stderr)
    if ended.returncode == 0 and settings.ratchet:
        _keep_as_baseline(settings)
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
