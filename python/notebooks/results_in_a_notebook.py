# %% [markdown]
# # Results in a notebook
# A result shows itself as an extract of its report: at most 60 kB, without scripts, so that it is also shown where the
# notebook is stored. `plot()` draws its tables, and the whole report is one call away.

# %%
import assay
from assay import plots
from assay.callbacks import History

train = assay.data("digits:600,range=0:1")
test = assay.data("digits:150,seed=2,range=0:1")
network = assay.train(train, architecture="lenet1", epochs=2, progress=True).model

# %% [markdown]
# ## An extract, and pictures

# %%
coverage = assay.cover(network, train, test, criterion=["nc[threshold=0.5]", "kmnc[sections=20]", "idc[m=3]"])
coverage

# %% [markdown]
# Each table is drawn as it is best read. All plots return axes of matplotlib, and draw on axes that you give.

# %%
import matplotlib.pyplot as pyplot

figure, axes = pyplot.subplots(1, 3, figsize=(16, 4), dpi=70, layout="constrained")
coverage.plot("growth", ax=axes[0])
coverage.plot("histograms", row=0, ax=axes[1])
assay.evaluate(network, test).plot(ax=axes[2])

# %% [markdown]
# ## Pictures of records

# %%
attacked = assay.attack(network, test[:60], attack="pgd[eps=0.2]")
attacked.plot("pairs", top=6, dpi=70)

# %%
few = test.read(range(8))["x"]
plots.relevance(network.relevance(few, "input"), few, captions=[str(label) for label in test.labels[:8]], dpi=70)

# %% [markdown]
# ## While a network is trained
# Here, one epoch after the other by `assay.train`; yours may be a loop of PyTorch, or a trainer of Keras,
# Lightning or transformers.

# %%
history = History(lambda net: assay.evaluate(net, test), margins={"test_accuracy": 0.1})
for epoch in range(3):
    history.measure(network, epoch)
    network = assay.train(train, model=network, initialiser="keep", epochs=1).model
print(history.values("test_accuracy"), history.warnings)

# %% [markdown]
# ## The whole report
# On demand, as a file; `coverage.log(to="mlflow")` would keep it in a tracker.

# %%
coverage.save_html("coverage.html")
