"""Files of SentencePiece (.model) against its package, whose files they are."""

import itertools
import os
import random

import numpy as np
import pytest

import assay

BLANK = "\u2581"


@pytest.fixture(scope="module")
def package():
    return pytest.importorskip("sentencepiece", reason="SKIPPED: the package sentencepiece is not there")


WORDS = (
    "the a of and network neuron layers testing don't we're It's THE Café naïve 1984 3.14 42nd hello_world x=y e-mail "
    "schöne Grüße aus München façade déjà vu año niño привет мир как дела тест γειά σου Κόσμε שלום עולם مرحبا بالعالم "
    "नमस्ते दुनिया สวัสดี 你好世界 测试 神经网络 日本語 テスト ひらがな 한국어 테스트 ﬁne ½ ² Ⅳ ㎏ ｆｕｌｌ İstanbul ǅ ﷺ"
).split()
ODD = list("\t\n\r\u00a0\u3000\u2028\u200b\ufeff\ufffd\x07\x7f\u0085\ue000\u0301\u0308" + BLANK) + list("😀👩🏽🇩🇪€$%&*()[]{}<>|~^`'\"\\/@#+=_-–—…¡。，！？「」")
SPECIAL = ["<s>", "</s>", "<unk>", "<pad>", "<extra>", "user sym", "<0x41>", "[X]", "[XY]"]


def one_text(rng):
    parts = []
    for _ in range(rng.randrange(20)):
        kind = rng.random()
        if kind < 0.6:
            parts.append(rng.choice(WORDS))
        elif kind < 0.72:
            parts.append("".join(rng.choice(rng.choice(WORDS)) for _ in range(rng.randrange(1, 8))))
        elif kind < 0.85:
            parts.append("".join(rng.choice(ODD) for _ in range(rng.randrange(1, 5))))
        elif kind < 0.92:
            parts.append(rng.choice(SPECIAL))
        else:
            parts.append(rng.choice([" ", BLANK, "\u3000"]) * rng.randrange(1, 6))
        if rng.random() < 0.75:
            parts.append(" ")
    return "".join(parts)


def texts(count, seed):
    rng = random.Random(seed)
    return ["", " ", "   ", "a", "\n", " a", "a ", BLANK] + [one_text(rng) for _ in range(count - 8)]


KINDS = {
    "unigram": {},
    "t5": {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1, "user_defined_symbols": ["<extra>", "user sym"]},
    "unigram_bytes": {"byte_fallback": True, "user_defined_symbols": ["[X]", "[XY]"], "character_coverage": 0.98},
    "as_it_is": {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "add_dummy_prefix": False},
    "blank_after": {"treat_whitespace_as_suffix": True, "normalization_rule_name": "nfkc_cf"},
    "bpe": {"model_type": "bpe"},
    "llama": {
        "model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
        "split_digits": True, "allow_whitespace_only_pieces": True, "character_coverage": 0.98,
    },
    "gemma": {
        "model_type": "bpe", "byte_fallback": True, "add_dummy_prefix": False, "remove_extra_whitespaces": False, "normalization_rule_name": "identity",
        "user_defined_symbols": ["<extra>", "  ", "   ", "[X]", "[XY]"], "control_symbols": ["<mask>"],
    },
}  # fmt: skip


def trained(package, path, **options):
    ways = {"vocab_size": 700, "hard_vocab_limit": False, "minloglevel": 2, "num_threads": 1, **options}
    package.SentencePieceTrainer.train(sentence_iterator=iter(texts(2000, 0)), model_prefix=os.fspath(path), **ways)
    return package.SentencePieceProcessor(model_file=f"{path}.model")


@pytest.mark.parametrize("name", KINDS)
def test_tokens_are_those_of_the_package(package, tmp_path, name):
    theirs = trained(package, tmp_path / "made", **KINDS[name])
    ours = assay.Tokenizer(tmp_path / "made.model")
    assert len(ours) == theirs.get_piece_size()
    for id in range(len(ours)):
        assert ours.token(id) == theirs.id_to_piece(id) and ours.id(theirs.id_to_piece(id)) == id
    for text in texts(3000, 7):
        made = ours.encode(text)
        assert made.ids == theirs.encode(text), repr(text)
        assert made.tokens == theirs.encode(text, out_type=str), repr(text)
        if theirs.unk_id() not in made.ids:
            assert ours.decode(made.ids) == theirs.decode(made.ids), repr(text)
        assert all(0 <= begin <= end <= len(text) for begin, end in made.offsets), repr(text)
    rng = random.Random(3)
    for _ in range(1000):
        ids = [id for id in (rng.randrange(len(ours)) for _ in range(rng.randrange(8))) if id != theirs.unk_id()]
        assert ours.decode(ids) == theirs.decode(ids), ids


def made_by_hand(package, path, pieces):
    """A Unigram model of (text, score, type)."""
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2", reason="SKIPPED: the package protobuf is not there")
    model = pb.ModelProto()
    model.trainer_spec.model_type = 1
    model.normalizer_spec.add_dummy_prefix = model.normalizer_spec.remove_extra_whitespaces = False
    for text, score, kind in pieces:
        model.pieces.add(piece=text, score=score, type=kind)
    path.write_bytes(model.SerializeToString())
    return package.SentencePieceProcessor(model_file=os.fspath(path))


@pytest.mark.parametrize("seed", range(40))
def test_tokens_of_symbols_of_users_and_unused_pieces_are_those_of_the_package(package, tmp_path, seed):
    """Which compete with pieces of the same characters; as of version 0.2.3."""
    if tuple(int(part) for part in package.__version__.split(".")[:3]) < (0, 2, 3):
        pytest.skip("SKIPPED: older versions of the package weigh symbols of users differently")
    rng = random.Random(seed)
    words = sorted({"".join(rng.choice("abc") for _ in range(rng.randrange(1, 5))) for _ in range(rng.randrange(2, 9))})
    pieces = [("<unk>", 0, 2), ("aaaaa", -9, 1), *((word, -round(rng.random() * 50) / 10, rng.choice([1, 1, 4, 5])) for word in words)]
    theirs = made_by_hand(package, tmp_path / "made.model", pieces)
    ours = assay.Tokenizer(tmp_path / "made.model")
    for _ in range(50):
        text = "".join(rng.choice("abcz") for _ in range(rng.randrange(1, 14)))
        assert ours.encode(text).ids == theirs.encode(text), (pieces, text)


def test_offsets_are_characters_of_the_text(package, tmp_path):
    theirs = trained(package, tmp_path / "made")
    ours = assay.Tokenizer(tmp_path / "made.model")
    for text in ["Café  naïve", "  ½ network ", "ﬁne testing"]:
        found = ours.encode(text).offsets
        assert len(found) == len(theirs.encode(text))
        assert "".join(text[begin:end] for begin, end in found).replace(" ", "") == text.replace(" ", "")


def test_texts_are_records_by_it(package, tmp_path):
    trained(package, tmp_path / "made", **KINDS["t5"])
    (tmp_path / "t.csv").write_text("text,label\nthe network,0\nhello,1\n")
    data = assay.data(f"{tmp_path / 't.csv'},text=text,label=label,tokenizer={tmp_path / 'made.model'}")
    ours = assay.Tokenizer(tmp_path / "made.model")
    rows = [ours.encode(text).ids for text in ("the network", "hello")]
    length = max(map(len, rows))
    np.testing.assert_array_equal(data.read([0, 1])["input_ids"], [row + [0] * (length - len(row)) for row in rows])


def test_what_is_not_read_is_said(package, tmp_path):
    trained(package, tmp_path / "words", model_type="word")
    with pytest.raises(assay.UnsupportedError, match="of type WORD; Assay reads UNIGRAM and BPE"):
        assay.Tokenizer(tmp_path / "words.model")
    trained(package, tmp_path / "made")
    whole = (tmp_path / "made.model").read_bytes()
    for name, content in {"cut": whole[: len(whole) // 2], "json": b"{}", "empty": b"", "lines": b"IQ== 0\nIg== 1\n"}.items():
        (tmp_path / f"{name}.model").write_bytes(content)
        with pytest.raises(assay.DataError, match="not a model of SentencePiece|stand for what is unknown"):
            assay.Tokenizer(tmp_path / f"{name}.model")


def test_damaged_files_are_errors_or_tokenizers(package, tmp_path):
    trained(package, tmp_path / "made", vocab_size=250)
    whole, rng = (tmp_path / "made.model").read_bytes(), random.Random(1)
    for trial, way in itertools.product(range(60), ("byte", "cut", "twice")):
        bytes_, at = bytearray(whole), rng.randrange(len(whole))
        if way == "byte":
            bytes_[at] = rng.randrange(256)
        elif way == "cut":
            del bytes_[at : at + rng.randrange(1, 40)]
        else:
            bytes_[at:at] = bytes_[at : at + rng.randrange(1, 40)]
        (tmp_path / "bad.model").write_bytes(bytes_)
        try:
            assay.Tokenizer(tmp_path / "bad.model").encode("the network ½ 你好")
        except assay.AssayError:
            pass
