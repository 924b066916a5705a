#!python
"""The program ``assay`` of a wheel. It lies in the package's module, so that the wheel has the library once; the package itself
is not imported, which takes longer than a short command."""

import ctypes
import importlib.machinery
import importlib.util
import os
import sys


def module_file():
    package = importlib.util.find_spec("assay")
    if package is None or package.submodule_search_locations is None:
        sys.exit("assay: the Python package 'assay' is not installed beside this program; install its wheel again")
    module = importlib.machinery.PathFinder.find_spec("_assay", list(package.submodule_search_locations))
    return module.origin if module else None


def library():
    try:
        return ctypes.CDLL(module_file() or "")
    except OSError as error:
        try:
            import assay  # it says what to do
        except ImportError as said:
            sys.exit(f"assay: {said}")
        sys.exit(f"assay: {error}")


def main():
    words = [os.path.realpath(__file__), *sys.argv[1:]]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)
    library().assay_run_program(len(words), arguments)


main()
