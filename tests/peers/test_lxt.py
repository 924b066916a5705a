"""AttnLRP of transformers of `transformers`, as its authors' package `lxt` computes it. lxt changes classes of `transformers`, so it
runs in a process of its own; it knows versions 4.52 and their neighbours."""

import os
import subprocess
import sys

import numpy as np
import pytest

LENGTH, WORDS = 9, 60


def networks():
    """By name: the module that lxt changes, and how a network is made."""
    import transformers as t

    common = {"attn_implementation": "eager", "initializer_range": 0.3}
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    text = {"vocab_size": WORDS, "max_position_embeddings": 16, **common}
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return {
        "BERT": ("bert", lambda: t.BertForSequenceClassification(t.BertConfig(**sizes, **text, **still))),
        "GPT-2": ("gpt2", lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=WORDS, n_embd=32, n_layer=3, n_head=4, n_positions=16, use_cache=False,
                                                                 resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **common))),
        "Llama": ("llama", lambda: t.LlamaForCausalLM(t.LlamaConfig(num_key_value_heads=2, use_cache=False, **sizes, **text))),
    }  # fmt: skip


def given_to(name, torch):
    torch.manual_seed(0)
    ids = torch.randint(1, WORDS, (5, LENGTH))
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def write(name, folder):
    """The network as ONNX, what it was given and, by lxt, the relevance of what comes out of the embedding."""
    import importlib

    import torch
    from lxt.efficient import monkey_patch

    kind, make = networks()[name]
    given = given_to(name, torch)
    torch.manual_seed(1)
    model = make().eval()
    axes = {key: {0: torch.export.Dim("n")} for key in given}
    torch.onnx.export(model, (), f"{folder}/net.onnx", kwargs=given, input_names=list(given), output_names=["logits"], dynamic_shapes=axes,
                      dynamo=True, external_data=False, verbose=False)  # fmt: skip
    module = importlib.import_module(f"transformers.models.{kind}.modeling_{kind}")
    monkey_patch(module)
    state = model.state_dict()
    model = make().eval()
    model.load_state_dict(state)
    start = {}

    def keep(_, __, found):
        start["x"] = found.detach().requires_grad_()
        return start["x"]

    model.get_input_embeddings().register_forward_hook(keep)
    logits = model(**given).logits
    last = logits[:, -1] if logits.ndim == 3 else logits
    last.max(1).values.sum().backward()
    relevance = (start["x"] * start["x"].grad).sum(-1)
    np.savez(f"{folder}/found.npz", relevance=relevance.detach().numpy(), logits=last.detach().numpy(), **{key: value.numpy() for key, value in given.items()})


@pytest.mark.parametrize("name", ["BERT", "GPT-2", "Llama"])
def test_relevance_of_transformers_is_that_of_the_authors(name, tmp_path, row):
    assay = pytest.importorskip("assay")
    pytest.importorskip("lxt", reason="SKIPPED: lxt is not installed (PyPI)")
    tried = [sys.executable, "-c", "import lxt.efficient, transformers, onnxscript"]
    if subprocess.run(tried, capture_output=True, check=False).returncode != 0:
        pytest.skip("SKIPPED: this version of transformers is not one that lxt knows (such as 4.52)")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, __file__, name, str(tmp_path)], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    found = dict(np.load(tmp_path / "found.npz"))
    theirs, logits = found.pop("relevance"), found.pop("logits")
    network = assay.load(tmp_path / "net.onnx", decision=None if name == "BERT" else "position=last")
    np.testing.assert_allclose(network(found), logits, rtol=1e-4, atol=1e-5)
    ours = network.relevance(found, method="attn-lrp")
    off = np.abs(ours - theirs).max() / np.abs(theirs).max()
    assert off < 5e-3
    row("lxt", f"`attn-lrp` on a {name} of 3 layers", f"worst token {off:.0e} of the greatest relevance")


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
