"""Coverage of records in memory: which neurons decide, and how well these tests exercise them."""

import assay

train = assay.data("digits:200")
test = assay.data(train.read(range(50))["x"], train.labels[:50], range=(0, 1))
network = assay.train(train, architecture="lenet1", epochs=1).model
assert isinstance(network, assay.Model)

result = assay.cover(network, train, test, criterion=["idc[m=3]", "nc", "kmnc[sections=10]"])
print(result.headline)
for row in result.table("criteria"):
    print(f"{row['criterion']:24} {row['layer']:10} {row['coverage']:.3f}")

conv = network.activations(test, "conv1")
print("conv1 of one record:", conv[0].shape, "largest", float(conv.max()))
