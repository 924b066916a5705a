"""What tables of an inspection say is written for people."""

import numpy as np

import assay


def test_positions_and_statuses_are_words():
    """Of a convolution with positions, a dense layer with one value a record, and a hypothesis that holds for no record."""
    network = assay.train("digits:60", architecture="lenet1", epochs=1).model
    drawn = assay.data("digits:60").read(range(60))
    records = assay.data(drawn["x"], np.zeros(60, np.int64), class_names=["all", "none"])
    result = assay.inspect(network, records, hypotheses="label", measure="pearson", no_early_stop=True)
    positions = {row["unit_positions"] for row in result.table("alignment")}
    assert "one value a record" in positions and any(" x " in text for text in positions)
    assert {row["hypothesis_positions"] for row in result.table("alignment")} == {"one value a record"}
    meanings = {row["status"]: row["meaning"] for row in result.table("statuses")}
    assert meanings["constant_hypothesis"] == "the hypothesis has one value on all rows" and all(meanings.values())
