"""Two small transformers of `transformers`, trained for a moment and exported as folders: a classifier and a causal model."""

import contextlib
import io
import logging
import warnings

import numpy as np
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

import sentences

torch.set_num_threads(1)  # more only wait for each other with networks this small
POSITIONS = 32
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


def word_pieces(texts):
    """As BERT's: small letters, [CLS] in front, [SEP] behind. Pieces are words of the texts, and letters for all others; the trainer of
    `tokenizers` chooses others each time."""
    words = sorted({word for text in texts for word in text.split()})
    letters = sorted(set("".join(words)))
    pieces = dict.fromkeys([*SPECIAL, *words, *letters, *(f"##{letter}" for letter in letters)])
    made = tokenizers.Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    made.add_special_tokens(SPECIAL)
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return made


def byte_pairs(texts):
    """As GPT-2's: pieces of bytes, with the space in front of a word."""
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(texts, trainer)
    return made


def batch_of(tokenizer, texts, padding=0):
    rows = [one.ids for one in tokenizer.encode_batch(list(texts))]
    length = max(map(len, rows))
    ids = torch.tensor([row + [padding] * (length - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (length - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask}


def train(model, inputs, loss, epochs, rate, seed, batch=64):
    """`loss` gives that of the rows with these numbers."""
    order, optimiser = np.random.default_rng(seed), torch.optim.AdamW(model.parameters(), lr=rate)
    count = len(inputs["input_ids"])
    steps = epochs * -(-count // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    model.train()
    for _ in range(epochs):
        for rows in np.array_split(order.permutation(count), -(-count // batch)):
            optimiser.zero_grad()
            loss(model, {name: values[rows] for name, values in inputs.items()}, rows).backward()
            optimiser.step()
            schedule.step()
    return model.eval()


def classifier(rows, tokenizer, epochs, seed):
    """BERT with two blocks of four heads."""
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=POSITIONS, pad_token_id=0, id2label=dict(enumerate(sentences.LABELS)), hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, initializer_range=0.15,
    )  # fmt: skip
    labels = torch.tensor([sentences.LABELS.index(label) for _, label, _ in rows])

    def loss(model, given, numbers):
        return torch.nn.functional.cross_entropy(model(**given).logits, labels[numbers], label_smoothing=0.1)

    model = transformers.BertForSequenceClassification(config)
    return train(model, batch_of(tokenizer, [text for text, _, _ in rows]), loss, epochs, 3e-3, seed)


def causal(rows, tokenizer, epochs, seed):
    """GPT-2 with three blocks, which learns each next token: of the review, of the question and of the answer."""
    torch.manual_seed(seed)
    config = transformers.GPT2Config(
        vocab_size=tokenizer.get_vocab_size(), n_embd=32, n_layer=3, n_head=4, n_positions=POSITIONS, bos_token_id=0, eos_token_id=0,
        initializer_range=0.15,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    asked = sentences.as_questions(rows)
    given = batch_of(tokenizer, [f"{text} {answer}" for text, answer, _ in asked])

    def loss(model, given, _):
        ids, mask = given["input_ids"], given["attention_mask"]
        scores = model(**given).logits[:, :-1].transpose(1, 2)
        by_token = torch.nn.functional.cross_entropy(scores, ids[:, 1:], reduction="none")
        answer = mask.sum(1) - 2  # the question mark, which has to name the last token
        return (by_token * mask[:, 1:]).sum() / mask[:, 1:].sum() * 0.1 + by_token[torch.arange(len(ids)), answer].mean()

    return train(transformers.GPT2LMHeadModel(config), given, loss, epochs, 3e-3, seed)


def export(model, tokenizer, folder):
    """model.onnx, config.json and tokenizer.json, for texts of any length."""
    folder.mkdir(parents=True, exist_ok=True)
    model.config.use_cache = False
    example = {"input_ids": torch.ones((2, 8), dtype=torch.int64), "attention_mask": torch.ones((2, 8), dtype=torch.int64)}
    axes = {name: {0: torch.export.Dim("records"), 1: torch.export.Dim("tokens", max=POSITIONS)} for name in example}
    logging.disable(logging.WARNING)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (), folder / "model.onnx", kwargs=example, input_names=list(example), output_names=["logits"], dynamic_shapes=axes,
            dynamo=True, external_data=False, verbose=False,
        )  # fmt: skip
    logging.disable(logging.NOTSET)
    model.config.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
