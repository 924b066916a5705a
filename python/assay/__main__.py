"""``python -m assay ...`` is the program ``assay ...``."""

from __future__ import annotations

import os
import sys

from ._program import program_file


def main() -> None:
    program = program_file()
    if program is None:
        sys.exit("assay: the program 'assay' is neither next to this package nor in PATH; install the wheel, or build it from source")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
