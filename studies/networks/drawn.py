"""What networks are asked about, drawn from a seed: voices, notes, files, printed words, pages, cards."""

import json

import numpy as np
from PIL import Image, ImageDraw, ImageFont

VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480))  # formants in Hz: a, i, u, e


def vowel(samples, pitch, formants, rate=16000):
    """A pulse train through three resonators."""
    time = np.arange(samples) / rate
    phase = np.cumsum(pitch * (1 + 0.1 * np.sin(2 * np.pi * 3 * time))) / rate
    sound = np.diff(np.floor(phase), prepend=0.0)
    taps = np.arange(600)
    for formant, width in zip(formants, (90, 110, 170)):
        angle = 2 * np.pi * formant / rate
        echo = np.exp(-np.pi * width / rate * taps) * np.sin((taps + 1) * angle) / np.sin(angle)
        sound = np.convolve(sound, echo)[:samples]
    return 0.3 * sound / np.abs(sound).max()


def voice(random, vowels=6):
    """Vowels of a fifth of a second, one after the other, as in babble."""
    return np.concatenate([vowel(3200, random.uniform(90, 220), VOWELS[random.integers(4)]) for _ in range(vowels)])


def noise(random, samples):
    """Noise of random loudness, or a steady tone in noise."""
    tone = np.sin(2 * np.pi * random.uniform(200, 2000) * np.arange(samples) / 16000) * random.integers(2)
    return random.uniform(0.01, 0.2) * (random.normal(0, 0.3, samples) + tone)


def notes(random, samples, rate, frame, frames, count=3):
    """A melody of plucked notes, and [frames, 88]: which key of a piano sounds when."""
    sound, keys = np.zeros(samples), np.zeros((frames, 88), np.int64)
    for _ in range(count):
        key, begin = random.integers(24, 64), random.integers(0, samples // 2)
        length = random.integers(samples // 4, samples // 2)
        time = np.arange(length) / rate
        wave = sum(np.sin(2 * np.pi * 27.5 * 2 ** (key / 12) * part * time) / part for part in range(1, 6))
        sound[begin : begin + length] += wave * np.exp(-2 * time) * 0.3
        keys[begin // frame : (begin + length) // frame, key] = 1
    return np.clip(sound, -1, 1), keys


WORDS = "stone river cloud engine paper window garden silver bridge lantern market copper signal harbour meadow".split()


def files(random):
    """(kind, bytes) of a small file of each of six kinds."""
    words = [WORDS[number] for number in random.integers(0, len(WORDS), 60)]
    numbers = random.integers(0, 1000, 60)
    pairs = list(zip(words, numbers))
    yield "json", json.dumps({"items": [{"name": word, "count": int(count)} for word, count in pairs]}, indent=1)
    yield "csv", "name,count,share\n" + "".join(f"{word},{count},{count / 1000}\n" for word, count in pairs)
    yield "html", "<!DOCTYPE html>\n<html><head><title>List</title></head><body><ul>\n" + "".join(
        f'<li class="item"><a href="/{word}">{word} {count}</a></li>\n' for word, count in pairs
    ) + "</ul></body></html>\n"
    yield "python", "import os\nimport sys\n\n\n" + "".join(
        f"def {word}_{count}(self, path):\n    if path is None:\n        return {count}\n    return os.path.join(path, '{word}')\n\n\n"
        for word, count in pairs[:20]
    )
    yield "shell", "#!/bin/bash\nset -euo pipefail\n" + "".join(
        f'if [ -f "$HOME/{word}.txt" ]; then\n  echo "{word} {count}" >> log.txt\nfi\n' for word, count in pairs[:20]
    )
    yield "sql", "".join(
        f"INSERT INTO stock (name, amount) VALUES ('{word}', {count});\nSELECT name FROM stock WHERE amount > {count};\n"
        for word, count in pairs[:20]
    )


def written(text, height, width, colour="black", ground="white"):
    """A picture of a word, as large as fits."""
    picture = Image.new("RGB", (width, height), ground)
    draw, size = ImageDraw.Draw(picture), height
    while draw.textlength(text, font=ImageFont.load_default(size)) > width - 8 or size > 0.8 * height:
        size -= 1
    draw.text((4, height / 2), text, colour, ImageFont.load_default(size), anchor="lm")
    return picture


def words(random, count):
    return [WORDS[number] for number in random.integers(0, len(WORDS), count)]


def lines(random, side):
    """A picture with three words, and their boxes."""
    picture = Image.new("RGB", (side, side), tuple(random.integers(200, 256, 3).tolist()))
    draw, boxes = ImageDraw.Draw(picture), []
    for row in range(3):
        font = ImageFont.load_default(int(random.integers(side // 10, side // 6)))
        place = (int(random.integers(4, side // 4)), row * side // 3 + side // 24)
        word = WORDS[random.integers(len(WORDS))]
        draw.text(place, word, tuple(random.integers(0, 90, 3).tolist()), font)
        boxes.append(draw.textbbox(place, word, font))
    return picture, [tuple(np.clip(box, 0, side)) for box in boxes]


def page(random, width, height):
    """A page of a paper: a title (class 1), paragraphs (class 0) and a grey figure (class 2), with their boxes."""
    picture = Image.new("RGB", (width, height), "white")
    draw, boxes = ImageDraw.Draw(picture), []
    draw.text((width // 4, 40), " ".join(words(random, 3)).title(), "black", ImageFont.load_default(30))
    boxes.append((1, *draw.textbbox((width // 4, 40), " ".join(["stone river cloud"]), ImageFont.load_default(30))))
    return picture, boxes


def card(random, side):
    """Cards with letters and shapes on a coloured ground."""
    picture = Image.fromarray(random.integers(120, 250, (side, side, 3)).astype(np.uint8)).resize((side // 8, side // 8)).resize((side, side))
    draw, boxes = ImageDraw.Draw(picture), []
    for quarter in random.permutation(4)[:3]:
        left, top = (quarter % 2) * side // 2 + side // 12, (quarter // 2) * side // 2 + side // 12
        font = ImageFont.load_default(int(random.integers(side // 5, side // 3)))
        letter = chr(ord("A") + int(random.integers(26)))
        draw.text((left, top), letter, tuple(random.integers(0, 100, 3).tolist()), font)
        boxes.append(draw.textbbox((left, top), letter, font))
    return picture, [tuple(np.clip(box, 0, side)) for box in boxes]
