"""Relevance of a vision transformer of torchvision as `lxt` has it, and as a plain writing of the rules in NumPy has it. lxt's own set-up for
this network takes attention weights as constants (CP-LRP), which is `epsilon` here; with its rules for attention, which it has for networks of
texts, it is AttnLRP. lxt changes classes of torch, so it runs in a process of its own."""

import os
import subprocess
import sys

import numpy as np
import pytest

RECORDS, WIDTH, HEADS, LAYERS, PATCH = 4, 32, 4, 3, 7


def network():
    import torch
    from torchvision.models import VisionTransformer

    torch.manual_seed(1)
    model = VisionTransformer(28, PATCH, LAYERS, HEADS, WIDTH, 2 * WIDTH, num_classes=10)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.ndim == 1 else 0.0, 0.2)
    return model.eval()


def pictures():
    return np.random.default_rng(2).random((RECORDS, 3, 28, 28), np.float32)


def attention_with_shared_products(self, query, key, value, **_):
    """Of torch, with lxt's rule for matrix products of two activations: each takes half, so the query and the key a quarter."""
    import torch
    from lxt.efficient.rules import divide_gradient

    heads = lambda x: x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # noqa: E731
    q, k, v = map(heads, torch.nn.functional.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1))
    q, k, v = divide_gradient(q, 4), divide_gradient(k, 4), divide_gradient(v, 2)
    weights = torch.softmax(q @ k.transpose(-1, -2) * self.head_dim**-0.5, -1)
    return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), None


def write(rules, path):
    import torch
    from lxt.efficient import monkey_patch
    from torchvision.models import vision_transformer

    monkey_patch(vision_transformer)
    if rules == "AttnLRP":
        torch.nn.MultiheadAttention.forward = attention_with_shared_products
    x = torch.from_numpy(pictures()).requires_grad_()
    logits = network()(x)
    logits.max(1).values.sum().backward()
    np.savez(path, relevance=(x * x.grad).detach().numpy(), logits=logits.detach().numpy())


def linear(x, weight, z, relevance):
    """The z-rule: biases absorb."""
    return x * (relevance / z @ weight)


class Plain:
    """The network in double precision, one record, and the rules one after the other on the way back."""

    def __init__(self, rules):
        self.w = {name: value.double().numpy() for name, value in network().state_dict().items()}
        self.through_weights = rules == "AttnLRP"

    def dense(self, x, name):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, x, name):
        """The values, and how relevance passes: the deviation is a constant factor."""
        scale = self.w[f"{name}.weight"] / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
        y = (x - x.mean(-1, keepdims=True)) * scale + self.w[f"{name}.bias"]

        def back(relevance):
            part = relevance / y * scale
            return x * (part - part.mean(-1, keepdims=True))

        return y, back

    def attention(self, x, name):
        weight, bias = self.w[f"{name}.in_proj_weight"], self.w[f"{name}.in_proj_bias"]
        heads = lambda flat: flat.reshape(len(x), HEADS, -1).transpose(1, 0, 2)  # noqa: E731
        flat = lambda apart: apart.transpose(1, 0, 2).reshape(len(x), WIDTH)  # noqa: E731
        weights = np.split(weight, 3)
        q, k, v = (x @ part.T + add for part, add in zip(weights, np.split(bias, 3)))
        qh, kh, vh = map(heads, (q, k, v))
        root = (WIDTH // HEADS) ** -0.5
        scores = qh @ kh.transpose(0, 2, 1) * root
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = shares @ vh
        out = self.dense(flat(mixed), f"{name}.out_proj")

        def back(relevance):
            r_mixed = heads(linear(flat(mixed), self.w[f"{name}.out_proj.weight"], out, relevance)) / mixed
            if not self.through_weights:
                return linear(x, weights[2], v, flat(vh * (shares.transpose(0, 2, 1) @ r_mixed)))
            r_mixed = r_mixed / 2
            r_shares = shares * (r_mixed @ vh.transpose(0, 2, 1))
            # Of each score: what the softmax passes over the score itself, and half of that for either operand of the product.
            per_score = (r_shares - shares * r_shares.sum(-1, keepdims=True)) / 2 * root
            r_q, r_k = qh * (per_score @ kh), kh * (per_score.transpose(0, 2, 1) @ qh)
            r_v = vh * (shares.transpose(0, 2, 1) @ r_mixed)
            return sum(linear(x, part, z, flat(r)) for part, z, r in zip(weights, (q, k, v), (r_q, r_k, r_v)))

        return out, back

    def layer(self, x, name):
        from scipy.special import ndtr

        normal, normal_back = self.norm(x, f"{name}.ln_1")
        attended, attended_back = self.attention(normal, f"{name}.self_attention")
        h = x + attended
        again, again_back = self.norm(h, f"{name}.ln_2")
        wide = self.dense(again, f"{name}.mlp.0")
        active = wide * ndtr(wide)
        out = h + (narrow := self.dense(active, f"{name}.mlp.3"))

        def back(relevance):
            r_active = linear(active, self.w[f"{name}.mlp.3.weight"], narrow, narrow * relevance / out)
            r_h = h * relevance / out + again_back(linear(again, self.w[f"{name}.mlp.0.weight"], wide, r_active))
            return x * r_h / h + normal_back(attended_back(attended * r_h / h))

        return out, back

    def relevance(self, picture):
        size = 28 // PATCH
        patches = picture.reshape(3, size, PATCH, size, PATCH).transpose(1, 3, 0, 2, 4).reshape(size * size, -1)
        weight = self.w["conv_proj.weight"].reshape(WIDTH, -1)
        embedded = patches @ weight.T + self.w["conv_proj.bias"]
        x = np.concatenate([self.w["class_token"][0], embedded]) + self.w["encoder.pos_embedding"][0]
        begin, backs = x, []
        for i in range(LAYERS):
            x, back = self.layer(x, f"encoder.layers.encoder_layer_{i}")
            backs.append(back)
        last, last_back = self.norm(x, "encoder.ln")
        logits = self.dense(last[0], "heads.head")
        start = np.where(logits == logits.max(), logits, 0)
        relevance = np.zeros_like(x)
        relevance[0] = linear(last[0], self.w["heads.head.weight"], logits, start)
        relevance = last_back(relevance)
        for back in reversed(backs):
            relevance = back(relevance)
        tokens = linear(patches, weight, embedded, (relevance / begin)[1:] * embedded)
        return tokens.reshape(size, size, 3, PATCH, PATCH).transpose(2, 0, 3, 1, 4).reshape(3, 28, 28), logits


@pytest.fixture(scope="module")
def network_here():
    assay = pytest.importorskip("assay")
    torch = pytest.importorskip("torch", reason="SKIPPED: torch is not installed (PyPI)")
    for package in ("torchvision", "lxt", "scipy"):
        pytest.importorskip(package, reason=f"SKIPPED: {package} is not installed (PyPI)")
    if subprocess.run([sys.executable, "-c", "import lxt.efficient"], capture_output=True, check=False).returncode != 0:
        pytest.skip("SKIPPED: this version of transformers is not one that lxt knows (such as 4.52)")
    return assay.load(network(), torch.zeros(1, 3, 28, 28))


def part(found, wanted):
    return np.abs(found - wanted).max() / np.abs(wanted).max()


def theirs(rules, folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, __file__, rules, str(folder / "found.npz")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "found.npz")


@pytest.mark.parametrize(("rules", "method"), [("CP-LRP", "epsilon"), ("AttnLRP", "attn-lrp")])
def test_a_vision_transformer_has_the_relevance_of_the_authors_rules(rules, method, network_here, tmp_path, row, difference):
    there = theirs(rules, tmp_path)
    ours = network_here.relevance(pictures(), method=method)
    plain = [Plain(rules).relevance(picture) for picture in pictures().astype(np.float64)]
    np.testing.assert_allclose(network_here(pictures()), there["logits"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose([logits for _, logits in plain], there["logits"], rtol=1e-4, atol=1e-5)
    by_hand = np.array([relevance for relevance, _ in plain])
    assert part(there["relevance"], by_hand) < 5e-3, "lxt follows the rules as they are written out"
    off = part(ours, by_hand)
    assert off < 5e-3
    set_up = "its own set-up" if rules == "CP-LRP" else "its rules for attention"
    text = f"worst pixel {part(ours, there['relevance']):.0e} of the greatest relevance; {off:.0e} from the rules in NumPy, float64"
    row("lxt", f"`{method}` on torchvision's vision transformer of {LAYERS} layers, {set_up}", text)
    if rules == "CP-LRP":
        other = part(network_here.relevance(pictures(), method="attn-lrp"), there["relevance"])
        difference("lxt", "rules for torchvision's vision transformer", "attention weights are constants (CP-LRP)",
                   "`attn-lrp` passes through them as in networks of texts; `epsilon` takes them as constants", f"up to {other:.2f} of the greatest relevance; none with `epsilon`")  # fmt: skip


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2])
