"""Texts that were explained word by word, in notebooks and drawn."""

import json

import pytest

import assay

TEXTS = [
    ("seven", ["[CLS]", "مرحبا", "بالعالم", "[SEP]"]),
    ("seven", ["a", "<b>bad</b>", "$film$"]),
    ("eight", []),
    ("nine", ["good"] * 90),
]


@pytest.fixture
def explained(tmp_path, model, arrays):
    def column(name, kind):
        return {"id": name, "title": name, "kind": kind, "decimals": 3}

    texts = [{"record": record, "class": "positive", "text": " ".join(words)} for record, words in TEXTS]
    words = [
        {"record": record, "position": at, "word": word, "share": (-1) ** at / (at + 1)}
        for record, its in TEXTS
        for at, word in enumerate(its)
    ]
    tables = {
        "texts": {"title": "Texts", "columns": [column(name, "text") for name in ("record", "class", "text")], "rows": texts},
        "words": {
            "title": "Relevance of words",
            "detail": True,
            "columns": [column("record", "text"), column("position", "count"), column("word", "text"), column("share", "number")],
            "rows": words,
        },
    }
    path = tmp_path / "explained.json"
    document = assay.evaluate(model, arrays).document
    path.write_text(json.dumps({**document, "command": "importance", "tables": tables}))
    return assay.read_result(path)


def test_notebooks_shade_the_words_of_each_text(explained):
    page = explained._repr_html_()
    texts = page.split('<div class="w">')[1:]
    assert len(texts) == 3 and all("record seven, named positive" in text for text in texts[:2])
    # Special tokens leave the direction to the words.
    assert '<div dir="auto"><span dir="ltr" style="background:#d0453f99">[CLS]</span>' in texts[0]
    assert '<u style="background:#4a8fc44c">مرحبا</u>' in texts[0] and "bad" not in texts[0]
    assert "&lt;b&gt;bad&lt;/b&gt;" in texts[1] and "<b>bad" not in page
    assert texts[2].count("good</") == 80 and "… and 10 more words" in texts[2]
    assert len(page.encode()) <= 60_000


@pytest.mark.parametrize("backend", ["svg", "agg"])
def test_words_are_drawn_in_lines_in_the_direction_of_the_text(explained, backend):
    pytest.importorskip("matplotlib", reason="SKIPPED: matplotlib is not installed").use(backend)
    axes = explained.plot("words")
    placed = [(text.get_text(), *text.get_position(), text.get_bbox_patch()) for text in axes.texts]
    words = [(text, x, y) for text, x, y, box in placed if box is not None]
    assert [text for text, _, _ in words] == [word for _, its in TEXTS for word in its]
    assert [text for text, *_, box in placed if box is None] == ["record seven", "record seven", "record nine"]
    arabic, latin, long = words[:4], words[4:7], words[7:]
    assert arabic[0][1] > arabic[1][1] > arabic[2][1] > arabic[3][1] > latin[2][1]
    assert [x for _, x, _ in latin] == sorted(x for _, x, _ in latin) and latin[0][1] == 0
    assert len({y for _, _, y in long}) > 2 and max(x for _, x, _ in long) < axes.get_xlim()[1]
    red, blue = (placed[at][3].get_facecolor() for at in (1, 2))
    assert red[0] > red[2] and blue[2] > blue[0] and red[3] > blue[3]
    assert len(explained.plot("words", top=1).texts) == 5
    with pytest.raises(assay.UsageError, match="'column' has no effect on table words"):
        explained.plot("words", column="share")
