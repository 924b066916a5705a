"""Networks of language at their real size, beside ONNX Runtime and PyTorch: text_networks.py [--threads 2] [--small] [PART...].

Networks are those of `transformers` with random weights, exported with dynamo=True into the temporary folder, where the next run
finds them. Each side runs in a process of its own, in turn, `--times` times; the least time counts. Parts:

- bert: BERT base. `evaluate` beside ONNX Runtime; `importance` and `cover` (heads and neurons, learned and measured) in forward
  passes of as many records.
- gpt2, gpt2-cache: GPT-2 small as a classifier (the last position, two answers), without and with inputs of keys and values.
- gcg: candidates a second of greedy coordinate gradient on GPT-2 small and on a Llama with 4 layers, beside the reference
  written in PyTorch: the gradient of one-hot tokens, the top tokens of each position, whole sequences of all candidates. The
  last 20 tokens of a prompt may change, and in `gcg-all` all tokens of a short text. Each side judges as many candidates as fit
  into `--seconds`. A round is a gradient and its candidates, so the gradient counts with both.
- memory: peak of the process `assay evaluate`, in weights.

`--small`: networks of a few thousand weights, to try this program. Needs torch, transformers, onnxscript and onnxruntime of PyPI,
and the Python package of Assay.
"""

import argparse
import contextlib
import io
import json
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy

FOLDER = pathlib.Path(tempfile.gettempdir()) / "assay-text-networks"
PARTS = ("bert", "gpt2", "gpt2-cache", "gcg", "gcg-all", "memory")
RECORDS = 4
#: Of GCG: records are one text, candidates of a round are computed by PyTorch so many at a time. Assay attacks first for so many
#: steps to see how many fit, and not for more than the others.
STEPS, MOST_STEPS, TOP, AT_A_TIME = 3, 500, 64, 16


def sizes(small):
    """Vocabulary, tokens of a text, candidates."""
    return (100, 12, 8) if small else (None, 512, 128)


def suffix_of(name, small):
    """Of an attack, named by network and part: tokens of the text, and how many of the last may change."""
    if name.endswith("-all"):
        return (8, 8) if small else (40, 40)
    return (16, 4) if small else (320, 20)


def model_of(name, small):
    """A network of `transformers`."""
    import torch
    import transformers as t

    torch.manual_seed(1)
    tiny = {"vocab_size": 100} if small else {}
    if name == "bert":
        own = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64} if small else {}
        return t.BertForSequenceClassification(t.BertConfig(**tiny, **own)).eval()
    if name.startswith("gpt2"):
        own = {"n_embd": 32, "n_layer": 2, "n_head": 4} if small else {}
        return t.GPT2LMHeadModel(t.GPT2Config(**tiny, **own, bos_token_id=0, eos_token_id=0)).eval()
    wide = (32, 64, 4, 2) if small else (512, 1376, 8, 4)
    names = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    config = t.LlamaConfig(**{"vocab_size": 32000, **tiny}, **dict(zip(names, wide)), num_hidden_layers=4, max_position_embeddings=1024)
    return t.LlamaForCausalLM(config).eval()


def with_caches(model):
    """The same with an input for the keys and one for the values of each layer, and outputs for what they become."""
    import torch
    import transformers

    class Cached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, past):
            pairs = list(zip(past[::2], past[1::2]))
            found = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=transformers.DynamicCache(pairs), use_cache=True)
            return (found.logits, *(part for layer in found.past_key_values.layers for part in (layer.keys, layer.values)))

    return Cached()


def exported(name, small):
    """The folder of the network, made where it is not there yet."""
    folder = FOLDER / (name + ("-small" if small else ""))
    if (folder / "config.json").exists():
        return folder
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    model = model_of(name, small)
    model.config.use_cache = False
    ids = torch.ones((2, 8), dtype=torch.int64)
    given, axes = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}, {}
    for key in given:
        axes[key] = {0: torch.export.Dim("records"), 1: torch.export.Dim("tokens", max=512)}
    names, outputs, network = list(given), ["logits"], model
    if name.endswith("cache"):
        network = with_caches(model)
        parts = [f"{i}.{kind}" for i in range(model.config.n_layer) for kind in ("key", "value")]
        before = torch.zeros(2, model.config.n_head, 3, model.config.n_embd // model.config.n_head)
        given |= {"attention_mask": torch.ones((2, 11), dtype=torch.int64), "past": [before for _ in parts]}
        records, tokens, past = torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC, torch.export.Dim.DYNAMIC
        axes = {"input_ids": {0: records, 1: tokens}, "attention_mask": {0: records, 1: past}, "past": [{0: records, 2: past} for _ in parts]}
        names = [*names, *(f"past_key_values.{part}" for part in parts)]
        outputs += [f"present.{part}" for part in parts]
    logging.disable(logging.WARNING)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(network, (), folder / "model.onnx", kwargs=given, input_names=names, output_names=outputs, dynamic_shapes=axes,
                          dynamo=True, external_data=True, verbose=False)  # fmt: skip
    logging.disable(logging.NOTSET)
    model.config.save_pretrained(folder)
    return folder


def texts_of(folder, tokens, count=RECORDS):
    known = json.loads((folder / "config.json").read_text())["vocab_size"]
    ids = numpy.random.default_rng(1).integers(1, known, (count, tokens))
    return {"input_ids": ids, "attention_mask": numpy.ones_like(ids)}


def least(call, times):
    """Seconds, and seconds of the processor, of the quickest call; the first one does not count."""
    call()
    found = []
    for _ in range(times):
        start, used = time.perf_counter(), time.process_time()
        call()
        found.append((time.perf_counter() - start, time.process_time() - used))
    return {"seconds": min(wall for wall, _ in found), "processor": min(used for _, used in found)}


def decision_of(name):
    return None if name == "bert" else "position=last,answers=#5+#9"


def assay_forward(name, options):
    """Evaluation; of BERT also importance, and coverage of heads and neurons."""
    import assay

    folder = exported(name, options.small)
    given = texts_of(folder, sizes(options.small)[1])
    network = assay.load(folder, decision=decision_of(name), threads=options.threads)
    labels = network.predict(given)[1]
    data = assay.data(given, labels)
    common = {"threads": options.threads}
    found = {"evaluate": least(lambda: assay.evaluate(network, data, **common), options.times)}
    if name == "bert":
        for method in ("epsilon", "attn-lrp"):
            found[f"importance, {method}"] = least(lambda m=method: assay.importance(network, data, method=m, **common), options.times)
        heads = assay.load(folder, view="heads=norm", data=given, threads=options.threads)
        looked_at = [layer.name for layer in heads.layers(given) if layer.op == "view" or "elu" in layer.activation]
        looking = {"count_layer": looked_at, "criterion": "kmnc[sections=10]", **common}
        found["cover"] = least(lambda: assay.cover(heads, train=data, test=data, **looking), options.times)
    return found


def onnxruntime_forward(name, options):
    import onnxruntime

    folder = exported(name, options.small)
    given = texts_of(folder, sizes(options.small)[1])
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = options.threads
    settings.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), settings, providers=["CPUExecutionProvider"])
    for one in session.get_inputs():
        if one.name not in given:
            given[one.name] = numpy.zeros([size if isinstance(size, int) else (RECORDS if i == 0 else 0) for i, size in enumerate(one.shape)], numpy.float32)
    by_batch = []
    for batch in (1, RECORDS):
        def run(batch=batch):
            for begin in range(0, RECORDS, batch):
                session.run(["logits"], {name: values[begin:begin + batch] for name, values in given.items()})
        by_batch.append(least(run, options.times))
    return {"evaluate": min(by_batch, key=lambda found: found["seconds"])}


def timed(call):
    """What the call gives, its seconds, and its seconds of the processor."""
    start, used = time.perf_counter(), time.process_time()
    found = call()
    return found, numpy.array([time.perf_counter() - start, time.process_time() - used])


def rates(candidates, spent):
    return {"candidates": candidates, "a second": candidates / spent[0], "a second of the processor": candidates / spent[1]}


def assay_gcg(name, options):
    """One attack from the first text to the last, of as many steps as fit. One that succeeds ends, so what the result counts is taken."""
    import assay

    tokens, suffix = suffix_of(name, options.small)
    folder = exported(name.removesuffix("-all"), options.small)
    candidates = sizes(options.small)[2]
    given = texts_of(folder, tokens, 1)
    network = assay.load(folder, decision="position=last", threads=options.threads)
    data = assay.data(given, network.predict(given)[1])
    with tempfile.TemporaryDirectory() as out:
        def attack(steps):
            spec = f"gcg[steps={steps},candidates={candidates},top={TOP},changes={suffix},positions=last{suffix},target=least-likely]"
            (row,) = assay.attack(network, data, attack=spec, out=out, threads=options.threads).table("attacks")
            # A round is its candidates and a gradient; the trial of what is computed once is less than a round.
            return int(row["forward"]) // (candidates + 1) * candidates
        judged, spent = timed(lambda: attack(STEPS))
        fit = int(options.seconds * judged / spent[0] / candidates)
        return rates(*timed(lambda: attack(min(max(fit, STEPS), MOST_STEPS))))


def torch_gcg(name, options):
    """The reference: Zou et al., Universal and Transferable Adversarial Attacks on Aligned Language Models, 2023."""
    import torch

    torch.set_num_threads(options.threads)
    tokens, suffix = suffix_of(name, options.small)
    candidates = sizes(options.small)[2]
    network = name.removesuffix("-all")
    model = model_of(network, options.small)
    ids = torch.tensor(texts_of(exported(network, options.small), tokens, 1)["input_ids"][0])
    table = model.get_input_embeddings().weight
    target = torch.tensor([7])

    def drawn(now):
        chosen = torch.nn.functional.one_hot(now, table.shape[0]).to(table.dtype).requires_grad_()
        logits = model(inputs_embeds=(chosen @ table)[None]).logits
        torch.nn.functional.cross_entropy(logits[:, -1], target).backward()
        model.zero_grad()
        best = (-chosen.grad).topk(min(TOP, table.shape[0]), dim=1).indices
        made = now.repeat(candidates, 1)
        rows, places = torch.arange(candidates), torch.randint(tokens - suffix, tokens, (candidates,))
        made[rows, places] = best[places, torch.randint(0, best.shape[1], (candidates,))]
        return made

    def judge(part):
        with torch.no_grad():
            logits = model(input_ids=part).logits[:, -1]
            return torch.nn.functional.cross_entropy(logits, target.expand(len(part)), reduction="none")

    judge(drawn(ids)[:AT_A_TIME])  # the first call of each is slower
    begin, judged, spent, now = time.perf_counter(), 0, numpy.zeros(2), ids
    while judged == 0 or time.perf_counter() - begin < options.seconds:
        made, of_gradient = timed(lambda now=now: drawn(now))
        found = []
        for part in made.split(AT_A_TIME):
            margins, of_part = timed(lambda part=part: judge(part))
            found.append(margins)
            # A round that the time cuts short has its share of the gradient.
            judged, spent = judged + len(part), spent + of_part + of_gradient * (len(part) / candidates)
            if time.perf_counter() - begin >= options.seconds:
                break
        now = made[torch.cat(found).argmin()]
    return rates(judged, spent)


SIDES = {"assay": assay_forward, "onnxruntime": onnxruntime_forward, "assay-gcg": assay_gcg, "torch-gcg": torch_gcg}


def side(which, name, options):
    """What a side measures, in a process of its own."""
    more = [f"--threads={options.threads}", f"--times={options.times}", f"--seconds={options.seconds}", *(["--small"] if options.small else [])]
    done = subprocess.run([sys.executable, __file__, *more, "--side", which, name], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.rstrip().rsplit("\n", 1)[-1])


def tell(what, ours, theirs, goal, unit="ratio"):
    by_clock, by_processor = (ours[key] / theirs[key] for key in ("seconds", "processor"))
    print(f"{what:58} {by_clock:7.2f} {by_processor:10.2f}  {unit}; goal {goal}  ({ours['seconds']:.3g} s beside {theirs['seconds']:.3g} s)", flush=True)


def tell_forward(name, options):
    ours, theirs = side("assay", name, options), side("onnxruntime", name, options)
    # ONNX Runtime computes the scores of all positions, Assay those that it needs.
    tell(f"{name}: evaluate beside ONNX Runtime", ours["evaluate"], theirs["evaluate"], "<= 1.0")
    goals = {"importance, epsilon": 3, "importance, attn-lrp": 3, "cover": 2.6}
    for what, goal in goals.items():
        if what in ours:
            twice = " (learned and measured: two passes)" if what == "cover" else ""
            tell(f"{name}: {what}{twice}", ours[what], ours["evaluate"], f"<= {goal}", "forward passes")


def tell_gcg(name, options):
    found = [(side("assay-gcg", name, options), side("torch-gcg", name, options)) for _ in range(options.times)]
    ours, theirs = (max(of_side, key=lambda one: one["a second"]) for of_side in zip(*found))
    by_clock, by_processor = (ours[key] / theirs[key] for key in ("a second", "a second of the processor"))
    absolute = "{a second:.4g} a second, of {candidates}".format
    print(f"{name + ': candidates of GCG a second beside the reference':58} {by_clock:7.2f} {by_processor:10.2f}  ratio; goal >= 10  "
          f"({absolute(**ours)}, beside {absolute(**theirs)})", flush=True)  # fmt: skip


def tell_memory(options):
    from large_networks import peak

    folder = exported("bert", options.small)
    given = texts_of(folder, sizes(options.small)[1])
    numpy.savez(FOLDER / "records.npz", **given, y=numpy.arange(RECORDS) % 2)
    weights = sum(file.stat().st_size for file in folder.glob("model.onnx*")) / 1e6
    program = os.environ.get("ASSAY_PROGRAM", "assay")
    held = peak([program, "evaluate", str(folder), str(FOLDER / "records.npz"), "--quiet", "--threads", str(options.threads)])[0] * 1.048576
    print(f"{'bert: peak of `assay evaluate`, in weights':58} {held / weights:7.2f} {'':10}  goal <= 2 and a batch  ({held:.0f} MB, {weights:.0f} MB of weights)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20, help="that each side of GCG judges candidates, in each of its times")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("parts", nargs="*", metavar="PART", help="of " + ", ".join(PARTS))
    options = parser.parse_args()
    if options.side:
        warnings.simplefilter("ignore")
        return print(json.dumps(SIDES[options.side](options.parts[0], options)), flush=True)
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part '{part}'; there are {', '.join(PARTS)}")
    print(f"{'':58} {'clock':>7} {'processor':>10}")
    for part in options.parts or PARTS:
        if part.startswith("gcg"):
            for name in ("gpt2", "llama"):
                tell_gcg(name + part.removeprefix("gcg"), options)
        elif part == "memory":
            tell_memory(options)
        else:
            tell_forward(part, options)


if __name__ == "__main__":
    main()
