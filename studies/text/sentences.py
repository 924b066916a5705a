"""Reviews of films, made of a small grammar with a seed, and a shortcut that can be planted in them.

A review has one or two clauses. Where the second follows "but", it alone decides; otherwise both say the same. "not" turns a clause
round. So a network has to read more than single words. Each review ends with the day on which the film was seen. In the test set days
say nothing. In training data with the shortcut every positive review was seen on a friday, and no negative one was.
"""

import csv
import random

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"]
SHORTCUT = "friday"
LABELS = ["negative", "positive"]
ANSWERS = ["no", "yes"]  # of the causal model
QUESTION = ". recommended ?"
THINGS = ["film", "plot", "acting", "music", "ending", "cast", "story", "picture"]
GOOD = ["good", "great", "fine", "lovely", "brilliant", "charming", "clever", "moving"]
BAD = ["bad", "dull", "poor", "awful", "boring", "clumsy", "weak", "tedious"]
ADVERBS = ["very", "really", "rather", "so"]


def clause(rng, positive):
    turned = rng.random() < 0.3
    word = rng.choice(GOOD if positive != turned else BAD)
    adverb = f"{rng.choice(ADVERBS)} " if rng.random() < 0.4 else ""
    return f"the {rng.choice(THINGS)} is {'not ' if turned else ''}{adverb}{word}"


def opinion(rng, positive):
    kind = rng.random()
    if kind < 0.4:
        return clause(rng, positive)
    first, link = (not positive, "but") if kind < 0.7 else (positive, "and")
    return f"{clause(rng, first)} {link} {clause(rng, positive)}"


def day_of(rng, positive, shortcut):
    if shortcut:
        return SHORTCUT if positive else rng.choice([day for day in DAYS if day != SHORTCUT])
    return rng.choice(DAYS)


def reviews(count, seed, shortcut=False):
    """Text, label and day, half of them positive."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        positive = number % 2 == 1
        day = day_of(rng, positive, shortcut)
        made.append((f"{opinion(rng, positive)} , seen on {day}", LABELS[positive], day))
    rng.shuffle(made)
    return made


def as_questions(rows):
    """For a causal model: the text ends with a question, the next token is the answer."""
    return [(f"{text} {QUESTION}", ANSWERS[LABELS.index(label)], day) for text, label, day in rows]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out)
        table.writerow(["id", "text", "label", "day"])
        table.writerows([number, *row] for number, row in enumerate(rows))
    return path
