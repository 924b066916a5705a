# %% [markdown]
# # Testing a PyTorch classifier end to end
# Your own training loop, coverage measured each epoch, an attack, and whether retraining with what it found helps.

# %%
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

import assay
from assay.callbacks import CoverageHistory, RecordSampler

torch.manual_seed(1)

# %% [markdown]
# The data are tensors; any Dataset with its DataLoader does. Assay holds tensors without copying them, and reads a
# loader once, to a temporary file.

# %%
drawn = {name: assay.data(spec).read(range(n)) for name, spec, n in (("train", "digits:800", 800), ("test", "digits:200,seed=2", 200))}
x, y = torch.from_numpy(drawn["train"]["x"]), torch.from_numpy(drawn["train"]["y"])
x_test, y_test = torch.from_numpy(drawn["test"]["x"]), torch.from_numpy(drawn["test"]["y"])
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
train, test = assay.data(x, y, range=(0, 1)), assay.data(x_test, y_test, range=(0, 1))

# %%
net = torch.nn.Sequential(
    torch.nn.Conv2d(1, 8, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(8, 12, 5), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(192, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10),
)
optimiser = torch.optim.Adam(net.parameters(), 2e-3)
history = CoverageHistory(train, test, example=x[:1], criterion=["nc[threshold=0.5]", "kmnc[sections=20]"])


def epoch(batches):
    for inputs, labels in batches:
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(inputs), labels).backward()
        optimiser.step()


for _ in range(4):
    epoch(loader)
    measured = history.measure(net)
    print(measured.facts["test_accuracy"], measured.coverage("kmnc[sections=20]"))

# %% [markdown]
# ## The network as Assay sees it
# Exported through torch.onnx, with a free batch axis. Both compute the same.

# %%
network = assay.load(net, x[:1])
with torch.no_grad():
    assert np.allclose(network(x_test), net(x_test).numpy(), atol=1e-4)
network

# %% [markdown]
# ## Cover

# %%
cover = assay.cover(network, train, test, criterion=["idc[m=4]", "nc", "dsc"])
print(cover)

# %% [markdown]
# ## Attack
# Every record is read back from its file and judged again before it counts.

# %%
attacked = assay.attack(network, test, attack=["fgsm[eps=0.15]", "pgd[eps=0.15,steps=5]"])
print(attacked)
adversarial = attacked.arrays["pgd"]
print(adversarial["x"].shape, adversarial["success"].mean())

# %% [markdown]
# ## Does it help to train on them?
# Compared with as many noisy records, and with none, twice each.

# %%
retrained = assay.retrain(
    network, train, test, attacked.data["pgd"], count=40, repeats=2, epochs=1, optimiser="adam", learning_rate=1e-3,
    against="noise", evaluate_on="none", pool=80,
)
print(retrained)
print(sorted(retrained.models))

# %% [markdown]
# ## What to label next
# A sampler that trains on the records that the network doubts most.

# %%
doubt = assay.select(network, test, by="entropy", size=50)
epoch(DataLoader(TensorDataset(x_test, y_test), batch_size=10, sampler=RecordSampler(doubt, shuffle=True)))

# %%
assay.save_report("pytorch-classifier.html", [cover, attacked, retrained, doubt])
