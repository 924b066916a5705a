"""Tokenizers of every kind, trained with the library `tokenizers` on texts made here, and texts to compare on."""

import random

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

WORDS = (
    "the a of and network neuron layers testing don't we're It's THE Café naïve 1984 3.14 42nd hello_world x=y e-mail "
    "schöne Grüße aus München façade déjà vu año niño привет мир как дела тест γειά σου Κόσμε שלום עולם مرحبا بالعالم "
    "नमस्ते दुनिया สวัสดี 你好世界 测试 神经网络 日本語 テスト ひらがな 한국어 테스트 ﬁne ½ ² Ⅳ ㎏ ｆｕｌｌ İstanbul ǅ ﷺ"
).split()
MARKS = ["́", "̈", "̧", "̣", "‍", "️", "्", "ْ"]
ODD = list("\t\n\r\f\v\u00a0\u3000\u2028\u200b\ufeff\ufffd\x00\x07\x7f\u0085\ue000") + list("😀👩🏽🇩🇪€$%&*()[]{}<>|~^`'\"\\/@#+=_-–—…«»¿¡。，！？「」")
SPECIAL = ["<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<new>", "Word", "<0x41>"]


def one_text(rng):
    """A text of up to 20 pieces, words and stranger things."""
    parts = []
    for _ in range(rng.randrange(20)):
        kind = rng.random()
        if kind < 0.6:
            parts.append(rng.choice(WORDS))
        elif kind < 0.7:
            parts.append("".join(rng.choice(rng.choice(WORDS)) for _ in range(rng.randrange(1, 8))))
        elif kind < 0.78:
            parts.append(rng.choice("aeounаеאا한n") + "".join(rng.choice(MARKS) for _ in range(rng.randrange(1, 4))))
        elif kind < 0.9:
            parts.append("".join(rng.choice(ODD) for _ in range(rng.randrange(1, 5))))
        elif kind < 0.94:
            parts.append(rng.choice(SPECIAL))
        else:
            parts.append(" " * rng.randrange(1, 6))
        if rng.random() < 0.75:
            parts.append(" ")
    return "".join(parts)


def texts(count, seed):
    rng = random.Random(seed)
    return ["", " ", "a", "\n"] + [one_text(rng) for _ in range(count - 4)]


CORPUS = texts(3000, 0)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = [r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]


def trained(model, trainer, normalizer=None, pre=None, post=None, decoder=None):
    made = tokenizers.Tokenizer(model)
    if normalizer:
        made.normalizer = normalizer
    if pre:
        made.pre_tokenizer = pre
    made.train_from_iterator(CORPUS, trainer)
    if post:
        made.post_processor = post(made) if callable(post) else post
    if decoder:
        made.decoder = decoder
    return made


def byte_level(pre, post=None, size=700, **options):
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=["<|endoftext|>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    return trained(models.BPE(**options), trainer, None, pre, post, decoders.ByteLevel())


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False), processors.ByteLevel(trim_offsets=True))


def roberta():
    made = byte_level(pre_tokenizers.ByteLevel(add_prefix_space=True))
    made.add_special_tokens(["<s>", "</s>", "<pad>", tokenizers.AddedToken("<mask>", lstrip=True, special=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    made.enable_truncation(24)
    made.enable_padding(pad_id=made.token_to_id("<pad>"), pad_token="<pad>", pad_to_multiple_of=8)
    return made


def with_pattern(pattern, **options):
    parts = [pattern] if isinstance(pattern, str) else pattern
    pre = [pre_tokenizers.Split(Regex(part), "isolated") for part in parts]
    return byte_level(pre_tokenizers.Sequence([*pre, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
                      processors.ByteLevel(trim_offsets=False), **options)


def llama3():
    made = with_pattern(LLAMA3, ignore_merges=True)
    made.add_special_tokens(["<s>"])
    made.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", made.token_to_id("<s>"))])])
    return made


def qwen():
    made = with_pattern(QWEN)
    made.normalizer = normalizers.NFC()
    return made


def llama2():
    """SentencePiece's BPE, with bytes for characters that are not in the vocabulary."""
    trainer = trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)],
                                  limit_alphabet=60, show_progress=False)
    made = trained(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True), trainer,
                   normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
                   None, processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)]),
                   decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]))
    made.add_tokens([tokenizers.AddedToken("<new>", normalized=False), tokenizers.AddedToken("Word", single_word=True)])
    return made


def word_bpe():
    """With marks at the beginning and end of words, unknown characters one by one."""
    trainer = trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>"], limit_alphabet=50, end_of_word_suffix="</w>",
                                  continuing_subword_prefix="##", show_progress=False)
    return trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", end_of_word_suffix="</w>"), trainer,
                   normalizers.Lowercase(), pre_tokenizers.WhitespaceSplit(), None, decoders.BPEDecoder())


def fused_bpe():
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], limit_alphabet=30, show_progress=False)
    return trained(models.BPE(unk_token="<unk>", fuse_unk=True), trainer, normalizers.NFKD(), pre_tokenizers.Whitespace())


def bpe_without_unknown():
    trainer = trainers.BpeTrainer(vocab_size=300, limit_alphabet=40, show_progress=False)
    return trained(models.BPE(), trainer, normalizers.NFKC(), pre_tokenizers.Digits(individual_digits=True))


def bert(**options):
    trainer = trainers.WordPieceTrainer(vocab_size=900, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
                                        limit_alphabet=90, show_progress=False)
    return trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainer,
                   normalizers.BertNormalizer(**options), pre_tokenizers.BertPreTokenizer(),
                   processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)), decoders.WordPiece())


def bert_template():
    made = bert(lowercase=False, strip_accents=True)
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                        special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    made.add_tokens([tokenizers.AddedToken("<new>", rstrip=True), tokenizers.AddedToken("Word", lstrip=True, rstrip=True)])
    made.enable_truncation(12, strategy="longest_first")
    made.enable_padding(length=16, direction="left", pad_token="[PAD]")
    return made


def unigram(**options):
    trainer = trainers.UnigramTrainer(vocab_size=600, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
                                      unk_token="<unk>", show_progress=False)
    return trained(models.Unigram(), trainer,
                   options.get("normalizer", normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])),
                   pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(**options.get("metaspace", {}))]),
                   processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]),
                   decoders.Metaspace())


def unigram_bytes():
    pieces = [("<unk>", 0.0)] + [(f"<0x{b:02X}>", -12.0) for b in range(256)]
    pieces += [("▁", -2.5), ("a", -3.0), ("e", -3.1), ("t", -3.2), ("te", -4.5), ("▁te", -5.0), ("st", -4.6), ("s", -3.3), ("ing", -5.5), ("é", -6.0)]
    made = tokenizers.Tokenizer(models.Unigram(pieces, 0, True))
    made.normalizer = normalizers.Sequence([normalizers.Strip(True, True), normalizers.NFD(), normalizers.StripAccents()])
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    return made


def word_level():
    trainer = trainers.WordLevelTrainer(vocab_size=80, special_tokens=["<unk>"], show_progress=False)
    return trained(models.WordLevel(unk_token="<unk>"), trainer, normalizers.Replace(Regex(r"\d+"), "0"),
                   pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("merged_with_next")]))


def split(behavior, invert=False, pattern=Regex(r"[aeiou]\w?|\s"), post=None):
    trainer = trainers.WordLevelTrainer(vocab_size=400, special_tokens=["<unk>"], show_progress=False)
    return trained(models.WordLevel(unk_token="<unk>"), trainer, None, pre_tokenizers.Split(pattern, behavior, invert))


KINDS = {
    "gpt2": gpt2,
    "roberta": roberta,
    "llama3": llama3,
    "qwen": qwen,
    "gpt4o": lambda: with_pattern(GPT4O),
    "deepseek": lambda: with_pattern(DEEPSEEK),
    "llama2": llama2,
    "word_bpe": word_bpe,
    "fused_bpe": fused_bpe,
    "bpe_without_unknown": bpe_without_unknown,
    "bert": bert,
    "bert_cased": lambda: bert(lowercase=False, clean_text=False, handle_chinese_chars=False),
    "bert_template": bert_template,
    "unigram": unigram,
    "unigram_never": lambda: unigram(metaspace={"prepend_scheme": "never"}),
    "unigram_bytes": unigram_bytes,
    "word_level": word_level,
    "removed": lambda: split("removed"),
    "isolated": lambda: split("isolated", pattern=" "),
    "merged_with_previous": lambda: split("merged_with_previous"),
    "merged_with_next": lambda: split("merged_with_next"),
    "contiguous": lambda: split("contiguous", invert=True),
    "boundaries": lambda: split("isolated", pattern=Regex(r"\b[^\w\s]*|\p{Han}+|[[:punct:]]")),
    "characters": lambda: split("isolated", pattern=Regex(r"(?m:.)\W?|^x|\h{2}$")),
}
