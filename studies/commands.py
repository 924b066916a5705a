"""What studies share: commands of the program that are asked, and their answers as a table."""

import argparse
import json
import pathlib
import subprocess
import textwrap
import time


def asked(program, arguments, place, name):
    """What a command says, its exit code, the seconds that it took, and its result, which is NAME.json in the folder."""
    begin = time.monotonic()
    result = place / f"{name}.json"
    result.unlink(missing_ok=True)  # of another network, perhaps
    command = [program, *arguments, "--quiet", "--json", result.name]
    run = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    document = json.loads(result.read_text()) if run.returncode == 0 else None
    said = document["headline"] if document else run.stderr.strip().splitlines()[-1]
    return {"said": said, "code": run.returncode, "seconds": time.monotonic() - begin, "document": document}


def print_studies(about, cases, folder, study, compared):
    """A line for each answer of study(name, program, folder); compared(answer) is what to put behind it."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(cases))
    parser.add_argument("--assay", default="assay", metavar="PROGRAM")
    parser.add_argument("--folder", default=folder, type=pathlib.Path)
    options = parser.parse_args()
    if unknown := set(options.names) - set(cases):
        parser.error(f"there is no network {', '.join(sorted(unknown))}; there are {', '.join(cases)}")
    print("| network | command | seconds | answer |\n|---|---|---|---|")
    for name in options.names or cases:
        for command, answer in study(name, options.assay, options.folder.resolve()).items():
            said = textwrap.shorten(answer["said"], 240, placeholder=" ...")
            print(f"| {name} | {command} | {answer['seconds']:.1f} | {said}{compared(answer)} |", flush=True)
