"""The seed of measures of explanations."""

import pytest

import assay


def means(model, records, **options):
    found = assay.faithful(model, records, method="epsilon", **options)
    return [row["measure"] for row in found.document["tables"]["criteria"]["rows"]]


def test_the_seed_of_a_run_is_that_of_measures_that_name_none(model, arrays):
    records = arrays[0][:12]
    by_run = means(model, records, measure="infidelity[samples=5]", seed=7)
    assert by_run == means(model, records, measure="infidelity[samples=5,seed=7]")
    assert by_run != means(model, records, measure="infidelity[samples=5]")
    assert means(model, records, measure=["deletion", "infidelity[samples=5]"], seed=7)[-1:] == by_run[-1:]


def test_a_seed_without_anything_random_is_refused(model, arrays):
    for measure in ("deletion", "infidelity[samples=5,seed=2]"):
        with pytest.raises(assay.UsageError, match="seed has no effect on methods and measures that draw nothing at random"):
            assay.faithful(model, arrays[0][:4], method="epsilon", measure=measure, seed=7)
    assay.faithful(model, arrays[0][:4], method="smoothgrad[samples=2]", measure="deletion", seed=7)
