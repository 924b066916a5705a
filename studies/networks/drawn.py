"""What networks are asked about, drawn from a seed: voices, notes, files, printed words, faces, pages."""

import json

import numpy as np
from PIL import Image, ImageDraw, ImageFont

VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480))  # formants in Hz: a, i, u, e
WORDS = "stone river cloud engine paper window garden silver bridge lantern market copper signal harbour meadow".split()


def vowel(samples, pitch, formants, rate=16000):
    """A pulse train through three resonators."""
    time = np.arange(samples) / rate
    phase = np.cumsum(pitch * (1 + 0.1 * np.sin(2 * np.pi * 3 * time))) / rate
    sound, taps = np.diff(np.floor(phase), prepend=0.0), np.arange(600)
    for formant, width in zip(formants, (90, 110, 170)):
        angle = 2 * np.pi * formant / rate
        echo = np.exp(-np.pi * width / rate * taps) * np.sin((taps + 1) * angle) / np.sin(angle)
        sound = np.convolve(sound, echo)[:samples]
    return 0.3 * sound / np.abs(sound).max()


def voice(random, samples):
    """Vowels of a fifth of a second, one after the other, as in babble."""
    return np.concatenate([vowel(3200, random.uniform(90, 220), VOWELS[random.integers(4)]) for _ in range(0, samples, 3200)])


def noise(random, samples):
    """Noise of random loudness, with a steady tone or without."""
    tone = np.sin(2 * np.pi * random.uniform(200, 2000) * np.arange(samples) / 16000) * random.integers(2)
    return random.uniform(0.01, 0.2) * (random.normal(0, 0.3, samples) + tone)


def notes(random, samples, rate, frame, frames):
    """Three plucked notes, and [frames, 88]: which key of a piano sounds when."""
    sound, keys = np.zeros(samples), np.zeros((frames, 88), np.int64)
    for _ in range(3):
        key, begin = random.integers(24, 64), random.integers(0, samples // 2)
        length = random.integers(samples // 4, samples // 2)
        time = np.arange(length) / rate
        wave = sum(np.sin(2 * np.pi * 27.5 * 2 ** (key / 12) * part * time) / part for part in range(1, 6))
        sound[begin : begin + length] += wave * np.exp(-2 * time) * 0.3
        keys[begin // frame : (begin + length) // frame, key] = 1
    return np.clip(sound, -1, 1), keys


def files(random):
    """(kind, text) of a file of each of six kinds."""
    words = [WORDS[number] for number in random.integers(0, len(WORDS), 60)]
    pairs = list(zip(words, random.integers(0, 1000, 60)))
    items = "".join(f'<li class="item"><a href="/{word}">{word} {count}</a></li>\n' for word, count in pairs)
    yield "json", json.dumps({"items": [{"name": word, "count": int(count)} for word, count in pairs]}, indent=1)
    yield "csv", "name,count,share\n" + "".join(f"{word},{count},{count / 1000}\n" for word, count in pairs)
    yield "html", f"<!DOCTYPE html>\n<html><head><title>List</title></head><body><ul>\n{items}</ul></body></html>\n"
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


def words(random, count):
    return [WORDS[number] for number in random.integers(0, len(WORDS), count)]


def codes(texts):
    """Characters as numbers of Unicode, filled up with -1."""
    most = max(map(len, texts))
    return np.array([[ord(character) for character in text] + [-1] * (most - len(text)) for text in texts])


def written(text, height, width):
    """A picture of a word, as large as fits."""
    picture = Image.new("RGB", (width, height), "white")
    draw, size = ImageDraw.Draw(picture), int(0.8 * height)
    while draw.textlength(text, font=ImageFont.load_default(size)) > width - 8:
        size -= 1
    draw.text((4, height / 2), text, "black", ImageFont.load_default(size), anchor="lm")
    return picture


def lines(random, side):
    """A picture with three words, and which pixels are in the frame of one."""
    picture = Image.new("RGB", (side, side), tuple(random.integers(200, 256, 3).tolist()))
    draw, inside = ImageDraw.Draw(picture), np.zeros((side, side), np.int64)
    for row, word in enumerate(words(random, 3)):
        font = ImageFont.load_default(int(random.integers(side // 10, side // 6)))
        place = (int(random.integers(4, side // 4)), row * side // 3 + side // 24)
        draw.text(place, word, tuple(random.integers(0, 90, 3).tolist()), font)
        left, top, right, bottom = map(int, draw.textbbox(place, word, font))
        inside[top : bottom + 1, left : right + 1] = 1
    return picture, inside


def face(random, side):
    """Hair, a face with eyes, nose and mouth, a neck and a pullover."""
    picture = Image.new("RGB", (side, side), tuple(random.integers(100, 255, 3).tolist()))
    draw, size = ImageDraw.Draw(picture), side / 320 * random.uniform(0.8, 1.1)
    x, y, skin = side / 2 + random.uniform(-30, 30), side * 0.28, (224, 172, 140)

    def oval(left, top, right, bottom, colour):
        draw.ellipse((x + left * size, y + top * size, x + right * size, y + bottom * size), fill=colour)

    oval(-70, 70, 70, 400, tuple(random.integers(0, 255, 3).tolist()))
    draw.rectangle((x - 18 * size, y + 40 * size, x + 18 * size, y + 90 * size), fill=skin)
    oval(-62, -80, 62, 70, (60, 40, 20))
    oval(-48, -60, 48, 65, skin)
    for eye in (-20, 20):
        oval(eye - 9, -14, eye + 9, -4, "white")
        oval(eye - 4, -14, eye + 4, -4, "black")
    draw.polygon([(x, y), (x - 8 * size, y + 20 * size), (x + 8 * size, y + 20 * size)], fill=(200, 140, 110))
    oval(-18, 32, 18, 44, (180, 60, 60))
    return picture


def page(random, height, width):
    """A page of a paper: a heading, paragraphs in one column, a grey figure."""
    picture = Image.new("RGB", (width, height), "white")
    draw, line = ImageDraw.Draw(picture), 60
    draw.text((width // 4, line), " ".join(words(random, 3)).title(), "black", ImageFont.load_default(30))
    figure = int(random.integers(4, 16))
    for row in range(20):
        line += 34
        if row == figure:
            draw.rectangle((80, line + 8, width - 80, line + 160), fill=(150, 150, 170))
            line += 150
        elif row % 7 != 6:
            draw.text((60, line), " ".join(words(random, 9)), "black", ImageFont.load_default(16))
    return picture


def letters(random, side):
    """Three large letters on a speckled ground."""
    ground = random.integers(120, 250, (side // 8, side // 8, 3)).astype(np.uint8)
    picture = Image.fromarray(ground).resize((side, side))
    draw = ImageDraw.Draw(picture)
    for quarter in random.permutation(4)[:3]:
        place = ((quarter % 2) * side // 2 + side // 12, (quarter // 2) * side // 2 + side // 12)
        font = ImageFont.load_default(int(random.integers(side // 5, side // 3)))
        draw.text(place, chr(ord("A") + int(random.integers(26))), tuple(random.integers(0, 100, 3).tolist()), font)
    return picture
