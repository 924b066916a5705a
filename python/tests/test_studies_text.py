"""The shortcut of studies/text, in smaller networks: inspection finds it, and gates fail where it is."""

import sys

import pytest

from conftest import PROGRAM


@pytest.fixture(scope="module")
def studied(source, tmp_path_factory):
    for needed in ("torch", "transformers", "tokenizers", "onnxscript"):
        pytest.importorskip(needed, reason=f"SKIPPED: the package {needed} is not there")
    sys.path.insert(0, str(source / "studies" / "text"))
    import text

    folder = tmp_path_factory.mktemp("text")
    text.write_texts(folder, 3000, 120)
    text.train(folder, "shortcut", 3000, 6, models=("classifier",))
    text.train(folder, "clean", 3000, 6, models=("classifier",))
    text.train(folder, "shortcut", 1500, 4, models=("causal",))
    return text, text.Study(PROGRAM, folder)


def test_the_shortcut_shows_only_on_other_texts(studied):
    _, study = studied
    assert study.accuracy("shortcut", "alike") > 0.98
    assert study.accuracy("shortcut", "test") < 0.8 < study.accuracy("clean", "test")


def test_inspection_finds_the_word(studied):
    text, study = studied
    word = text.sentences.SHORTCUT
    assert study.words("shortcut")[0][0] == word
    assert word not in [found for found, _ in study.words("clean")[:3]]
    assert study.heads("shortcut")[1] == f"day:{word}"


def test_the_causal_model_has_decided_by_the_word_at_the_last_depth(studied):
    _, study = studied
    by_word, by_label = study.lens("shortcut")[-1]
    assert by_word > 0.9 > abs(by_label)


def test_the_word_decides(studied):
    _, study = studied
    days, explained = study.share_of_days("shortcut", 40)
    assert explained == 40 and days > 2 * study.share_of_days("clean", 40)[0]
    turned_by_word, turned = study.flips("shortcut")
    assert turned_by_word > turned / 2


def test_gates_fail_where_the_shortcut_is(studied):
    text, study = studied
    for gate in text.GATES:
        assert [study.gate(kind, gate) for kind in text.KINDS] == [2, 0], gate
