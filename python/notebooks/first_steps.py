# %% [markdown]
# # First steps
# A network and its data, in a notebook: does it do what it should, which neurons decide, how well do the tests
# exercise them, and what would the tests miss? Nothing has to be downloaded: the digits are drawn on the spot.

# %%
import assay

train = assay.data("digits:600")
test = assay.data("digits:150,seed=2")
train

# %% [markdown]
# A small network, trained for a moment. Yours would be `assay.load("net.onnx")`, a `.keras` file, or a torch module
# with an example.

# %%
trained = assay.train(train, architecture="lenet1", validation=test, epochs=2)
network = trained.model
print(trained)

# %%
for layer in network.layers():
    print(f"{layer.name:10} {layer.op:12} {layer.neurons:5} neurons {layer.parameters:7} parameters")

# %% [markdown]
# ## Does it do what it should?

# %%
said = assay.evaluate(network, test)
print(said.headline)
wrong = (said.arrays["predicted"] != said.arrays["y"]).nonzero()[0]
print("misclassified records:", said.arrays["ids"][wrong][:10])

# %% [markdown]
# ## Which neurons decide?

# %%
importance = assay.importance(network, train, top=5)
importance

# %%
relevance = network.relevance(test[:4], "input")
print("relevance of pixels:", relevance.shape, "sum", float(relevance.sum()))

# %% [markdown]
# ## How well do the tests exercise them?

# %%
coverage = assay.cover(network, train, test, criterion=["idc[m=4]", "nc", "kmnc[sections=20]", "lsc"], progress=False)
print(coverage)
print("idc", coverage.idc, "nc", coverage.nc)

# %%
few = assay.cover(network, train, test[:20], criterion="nc")
assert few.nc <= coverage.nc

# %% [markdown]
# ## Which faults would they miss?

# %%
mutants = assay.mutate(network, test, operator=["gf", "nai"], count=5)
print(mutants.headline)

# %% [markdown]
# ## Which tests to look at first?

# %%
doubtful = assay.select(network, test, by="deepgini", size=10)
print("look at", doubtful.ids)

# %% [markdown]
# ## A report for others

# %%
assay.save_report("first-steps.html", [said, importance, coverage, mutants])
