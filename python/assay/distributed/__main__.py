"""Parts of a study for schedulers that start processes, such as Slurm's job arrays.

Usage: python3 -m assay.distributed FOLDER [--part K] [--combine]
  FOLDER: of assay.distributed.prepare(). Without --part the part is the one that the scheduler's environment names:
  SLURM_ARRAY_TASK_ID (with _MIN and _STEP), SLURM_PROCID or JOB_COMPLETION_INDEX. --combine: puts all parts together.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Optional

from ..errors import AssayError, UsageError
from ._study import Study


def part_of(environment: Mapping[str, str]) -> int:
    """The part that a scheduler names, from 1 on. Throws UsageError where none does."""
    if "SLURM_ARRAY_TASK_ID" in environment:
        first, step = (int(environment.get(f"SLURM_ARRAY_TASK_{name}", number)) for name, number in (("MIN", "0"), ("STEP", "1")))
        return (int(environment["SLURM_ARRAY_TASK_ID"]) - first) // max(step, 1) + 1
    for name in ("SLURM_PROCID", "JOB_COMPLETION_INDEX"):
        if name in environment:
            return int(environment[name]) + 1
    raise UsageError("no scheduler names a part here; give --part K")


def main(arguments: Optional[Sequence[str]] = None) -> None:
    parser = argparse.ArgumentParser(prog="python3 -m assay.distributed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--part", type=int, metavar="K", help="from 1 on")
    parser.add_argument("--combine", action="store_true", help="put all parts together")
    asked = parser.parse_args(arguments)
    try:
        study = Study.read(asked.folder)
        if asked.combine:
            print(study.combined().headline)
        else:
            study.part(part_of(os.environ) if asked.part is None else asked.part)()
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
