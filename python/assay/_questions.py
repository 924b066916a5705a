"""The program's commands as functions. They are made from its catalogue of commands: a new flag is a new keyword."""

from __future__ import annotations

import functools
import inspect as _inspect
import itertools
import keyword
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _assay
from ._answer_files import AnswerFiles, Given, data_kinds, source_of
from ._arrays import is_array
from ._batches import batches_of
from ._data import Data, data as make_data
from ._export import is_network, is_torch_module
from ._forms import Form
from ._model import Model, load
from ._own import is_own, spec_of
from ._program import program_file
from ._progress import Progress, listener_of, tell
from ._results import Result
from ._tables import table_of
from .errors import FileError, UsageError, kind_of

__all__ = ["commands"]

# One question at a time: threads of the engine and its memory limit are the process's. A callback may ask as well.
_busy = threading.RLock()

#: Types of flags with lists of names. What a file calls a layer may hold commas.
_names_with_commas = {"NAME,...", "TEXT,..."}


def _names_networks(flag: Mapping[str, Any]) -> bool:
    return flag["files"] in ("network", "other network")


def keyword_of(flag: str) -> str:
    """``count-layer`` is the keyword ``count_layer``; ``class`` is ``class_``."""
    name = flag.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


class _Question:
    """Values of flags as text, with what is in memory under names."""

    depth = 0  # of questions within callbacks of others, whose names must differ

    def __init__(self) -> None:
        self.suffix = f"-{_Question.depth}" if _Question.depth else ""
        self.networks: dict[str, Any] = {}
        self.network_folders: dict[str, str] = {}
        self.datasets: dict[str, Any] = {}
        self.flags: list[tuple[str, list[str]]] = []

    def network(self, flag: str, value: Any) -> str:
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        name = f"{flag}{len(self.networks) or ''}{self.suffix}"
        model = load(value)
        self.networks[name], self.network_folders[name] = model._network, model._folder
        return "@" + name

    def dataset(self, flag: str, value: Any) -> str:
        name = f"{flag}{len(self.datasets) or ''}{self.suffix}"
        if isinstance(value, tuple):
            value = make_data(*_pair(flag, value))
        self.datasets[name] = make_data(value)._records
        return "@" + name

    def text(self, flag: Mapping[str, Any], value: Any) -> list[str]:
        name = flag["name"]
        if isinstance(value, Result):
            return [_file_of(name, value)]
        if is_own(value):
            return [spec_of(value)]
        if isinstance(value, Model) or is_network(value):
            return [self.network(name, value)]
        if isinstance(value, (bool, np.bool_)):
            return ["true" if value else "false"]
        if isinstance(value, (str, os.PathLike, int, float, np.integer, np.floating)):
            return [_plain(value)]
        if callable(value) and hasattr(value, "__name__") and name == "clusterer":
            from ._own import clusterer

            return [clusterer(value).__name__]
        if isinstance(value, (bytes, bytearray)) and _names_networks(flag):
            return [self.network(name, value)]
        if isinstance(value, list):
            if not value:
                raise UsageError(f"{name}: the list is empty")
            return [text for item in value for text in self.text(flag, item)]
        if isinstance(value, (set, frozenset)) or (isinstance(value, tuple) and flag["type"] != "SPEC"):
            return [text for item in value for text in self.text(flag, item)]
        if flag["type"] == "SPEC" and (isinstance(value, (tuple, Mapping, Data)) or _is_data(value)):
            return [self.dataset(name, value)]
        raise UsageError(f"{name}: {kind_of(value)} is not a value for it ({flag['summary']})")

    def give(self, flag: Mapping[str, Any], value: Any) -> None:
        if value is None or (flag["is_switch"] and value is False):
            return
        texts = self.text(flag, value)
        if flag["type"] in _names_with_commas and not isinstance(value, str):
            texts = [_one_name(text) for text in texts]
        if not flag["repeats"] and not flag["is_switch"] and len(texts) > 1:
            texts = [",".join(texts)]
        self.flags.append((flag["name"], texts))


def _one_name(text: str) -> str:
    """An item of a list, which a command would divide at its commas."""
    return '"' + text.replace('"', '""') + '"' if "," in text and not text.startswith('"') else text


def _is_data(value: Any) -> bool:
    return isinstance(value, Mapping) or is_array(value) or table_of(value) is not None or batches_of(value) is not None


def _pair(flag: str, value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(value) != 2:
        raise UsageError(f"{flag}: data are x, (x, y), or what assay.data() makes")
    return value


def _plain(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else str(value)


def _file_of(flag: str, result: Result) -> str:
    if result.state is not None:
        return result.state
    raise UsageError(f"{flag}: the result keeps no state; give its analysis state='FILE'")


def _first_record(flags: Mapping[str, Mapping[str, Any]], given: Given) -> Any:
    """Of data that were given, as torch modules take it."""
    for name, flag in flags.items():
        if flag["files"] in data_kinds and given.get(name) is not None:
            source = source_of(given[name])
            assert source is not None
            arrays = source.read([0])
            inputs: dict[str, Any] = {name: arrays[name] for name in source.inputs}
            return inputs if len(inputs) > 1 else next(iter(inputs.values()))
    return None


def _is_word(value: Any) -> bool:
    return isinstance(value, str) or is_own(value)


def _listed(flag: Mapping[str, Any], value: Any) -> Any:
    """Names, specs and user-defined classes as a list, from any container; other values unchanged."""
    if not (flag["repeats"] or flag["type"].endswith("...")):
        return value
    if isinstance(value, Iterator):
        first = list(itertools.islice(value, 1))
        return [*first, *value] if first and _is_word(first[0]) else itertools.chain(first, value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        return value.ravel().tolist()
    if isinstance(value, (tuple, set, frozenset)) and value and all(map(_is_word, value)):
        return list(value) if isinstance(value, tuple) else sorted(value, key=str)
    return value


def _load_objects(networks: list[str], given: Given, kind: Callable[[Any], bool], example: Any = None) -> None:
    """Networks that are in memory, once for all uses."""
    for name in networks:
        items = _items(given[name])
        if any(map(kind, items)):
            items = [load(item, example) if kind(item) else item for item in items]
            given[name] = items if isinstance(given[name], (list, tuple)) else items[0]


def _form_for(networks: list[Any]) -> Form:
    """How records are taken that are given as arrays for all these networks."""
    models = [item for item in networks if isinstance(item, Model)]
    shapes: frozenset[tuple[int, ...]] = frozenset()

    @functools.cache
    def takes_levels() -> bool:
        known = [load(item) for item in networks if not is_torch_module(item)]
        return bool(known) and all(model._takes_levels() for model in known)

    return Form(shapes.union(*(model._channels_last for model in models)), takes_levels)


def _hold_objects(flags: Mapping[str, Mapping[str, Any]], given: Given) -> None:
    """Networks and data in memory; a torch module is exported with the first record of the data."""
    networks = [name for name in given if _names_networks(flags[name])]
    _load_objects(networks, given, lambda item: is_network(item) and not is_torch_module(item))
    items = [item for name in networks for item in _items(given[name]) if item is not None]
    _hold_iterables(flags, given, _form_for(items))
    if any(map(is_torch_module, items)):
        _load_objects(networks, given, is_torch_module, _first_record(flags, given))
    held = [item for value in given.values() for item in _items(value)]
    _tell_numbering([item for item in held if isinstance(item, Model)], [item for item in held if isinstance(item, Data)])


def _tell_numbering(models: list[Model], sets: list[Data]) -> None:
    for notice in dict.fromkeys(model._numbering_notice(one) for model in models for one in sets):
        if notice:
            tell(notice)


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _hold_iterables(flags: Mapping[str, Mapping[str, Any]], given: Given, layout: Form) -> None:
    """Reads iterables that can be read only once, so that they can be used several times."""
    for name, value in given.items():
        flag = flags[name]
        if flag["type"] == "SPEC" and isinstance(value, (str, os.PathLike)) and os.fspath(value).endswith(".parquet"):
            raise UsageError(f"{name}: say what the columns of a table are: assay.data({os.fspath(value)!r}, label=...)")
        if flag["type"] != "SPEC" or isinstance(value, (str, os.PathLike, Data, list, Result)) or is_own(value):
            continue
        if isinstance(value, tuple):
            given[name] = make_data(*_pair(name, value), layout=layout)
        elif value is not None and not isinstance(value, (bool, int, float)) and _is_data(value):
            given[name] = make_data(value, layout=layout)


def ask(entry: Mapping[str, Any], given: Given, progress: Progress) -> Result:
    """Poses one question. ``given``: values by name of flag."""
    flags = {flag["name"]: flag for flag in entry["flags"]}
    for name, value in given.items():
        given[name] = _listed(flags[name], value)
    _hold_objects(flags, given)
    files = AnswerFiles(entry, given)
    try:
        for name in [name for name in given if flags[name]["files"] == "document"]:
            several = isinstance(given[name], (list, tuple))
            items = [files.write(item) if isinstance(item, Result) else item for item in (given[name] if several else [given[name]])]
            given[name] = items if several else items[0]
        with _busy:
            question = _Question()
            for name, value in given.items():
                if _names_networks(flags[name]) and value is not None:
                    networks = list(value) if isinstance(value, (list, tuple)) else [value]
                    if len(networks) != 1 and not flags[name]["repeats"]:
                        raise UsageError(f"{name}: {entry['name']} is about one network, {len(networks)} are given")
                    question.flags.append((name, [question.network(name, item) for item in networks]))
                else:
                    question.give(flags[name], value)
            _Question.depth += 1
            try:
                answer = _assay.ask(
                    entry["name"],
                    question.flags,
                    question.networks,
                    question.network_folders,
                    question.datasets,
                    files.folder,
                    listener_of(progress),
                )
            finally:
                _Question.depth -= 1
        result = Result(answer, **files.made())
    except BaseException:
        files.drop()
        raise
    files.keep_for(result)
    return result


#: Commands whose names are taken by something else, in the package or in Python.
_names = {"model": "describe_model", "data": "describe_data", "open": "open_page"}


def _annotation(flag: Mapping[str, Any]) -> str:
    if flag["is_switch"]:
        return "bool"
    name, kind = flag["name"], flag["type"]
    if _names_networks(flag):
        return "ModelLike | list[ModelLike]"
    words = ", ".join(repr(word) for word in flag["words"])
    one = f"Literal[{words}]" if words else {"UINT": "int", "INT": "int", "FLOAT": "float"}.get(kind, "str | PathLike[str]")
    if kind.startswith("SPEC"):
        one = "SpecLike"
    elif kind == "N|all":
        one = "int | Literal['all']"
    elif not words and kind in ("N", "SECONDS", "SHARE"):
        one = "float"
    return f"{one} | list[{one}]" if flag["repeats"] or kind.endswith("...") else one


def signature_of(entry: Mapping[str, Any]) -> _inspect.Signature:
    by_name = {flag["name"]: flag for flag in entry["flags"]}
    first = [name for name, flag in by_name.items() if flag["leads"]]
    parameters = []
    for name in first + [name for name in by_name if name not in first]:
        kind = _inspect.Parameter.POSITIONAL_OR_KEYWORD if name in first else _inspect.Parameter.KEYWORD_ONLY
        switch = by_name[name]["is_switch"]
        parameters.append(
            _inspect.Parameter(
                keyword_of(name),
                kind,
                default=False if switch else None,
                annotation=_annotation(by_name[name]) + ("" if switch else " | None"),
            )
        )
    parameters.append(
        _inspect.Parameter("progress", _inspect.Parameter.KEYWORD_ONLY, default=None, annotation="Progress")
    )
    return _inspect.Signature(parameters, return_annotation="Result")


def _documentation(entry: Mapping[str, Any], signature: _inspect.Signature) -> str:
    flags = {keyword_of(flag["name"]): flag for flag in entry["flags"]}
    lines = [
        entry["summary"][0].upper() + entry["summary"][1:] + ".",
        "",
        f"The same question as ``assay {entry['name']}``, with the same result document. Networks and data are files and",
        "specs, or what assay.load() and assay.data() take.",
        "",
        "Parameters",
        "----------",
    ]
    for name, parameter in signature.parameters.items():
        if name == "progress":
            lines += ["progress", "    True: tqdm where it is installed; or a function of (stage, done, total)."]
            continue
        fallback = flags[name]["fallback"]
        lines += [name, f"    {flags[name]['summary']}" + (f" (default: {fallback})" if fallback else "")]
    return "\n".join(lines)


def _name_the_program(command: str, given: Given) -> None:
    """For commands that run others of the program, on files, as they can be typed again."""
    for name, value in given.items():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(item, (str, os.PathLike, bool, int, float)):
                raise UsageError(f"{command}() works on files: give the file name of '{name}'")
    program = program_file()
    if program is None:
        raise FileError(f"{command}() runs the commands of the program 'assay', which is not in PATH; install it")
    _assay.set_program(program)


def _function(entry: Mapping[str, Any]) -> Callable[..., Result]:
    signature = signature_of(entry)
    names = {keyword_of(flag["name"]): flag["name"] for flag in entry["flags"]}
    first = [name for name, one in signature.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]

    def asked(*positional: Any, **keywords: Any) -> Result:
        for name in keywords:
            if name not in signature.parameters:
                import difflib

                near = difflib.get_close_matches(name, signature.parameters, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                raise UsageError(f"{asked.__name__}() has no keyword '{name}'{hint}")
        if len(positional) > len(first):
            raise UsageError(
                f"{asked.__name__}() takes {', '.join(first) or 'nothing'} without {'their names' if first else 'a name'}, and "
                f"{len(positional)} {'value is' if len(positional) == 1 else 'values are'} given; name the others"
            )
        bound = signature.bind(*positional, **keywords)
        progress = bound.arguments.pop("progress", None)
        given = {names[name]: value for name, value in bound.arguments.items() if value is not None}
        if entry["runs_program"]:
            _name_the_program(entry["name"], given)
        return ask(entry, given, progress)

    asked.__name__ = asked.__qualname__ = _names.get(entry["name"], entry["name"])
    asked.__module__ = "assay"
    asked.__doc__ = _documentation(entry, signature)
    asked.__signature__ = signature  # type: ignore[attr-defined]
    return asked


_catalogue: list[dict[str, Any]] = _assay.commands()

#: The functions by name of command, as the program lists them.
commands: dict[str, Callable[..., Result]] = {entry["name"]: _function(entry) for entry in _catalogue}
