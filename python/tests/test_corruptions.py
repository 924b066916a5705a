"""Fog again in NumPy, after CIFAR-10-C's own program: what of it is random is drawn as docs/algorithms/attacks.md says, by
streams of a seed and a record's name."""

import numpy as np
import pytest

import assay

MASK = 2**64 - 1


def rotated(word, by):
    return (word << by | word >> 64 - by) & MASK


class Stream:
    """xoshiro256**, seeded by SplitMix64 with a seed and a path of numbers (Blackman and Vigna, 2018)."""

    def __init__(self, seed, *path):
        mixed, _ = self.split(seed)
        for step in path:
            mixed, _ = self.split(mixed ^ (step + 0x632BE59BD9B4E019 & MASK))
        self.words = []
        for _ in range(4):
            word, mixed = self.split(mixed)
            self.words.append(word)

    @staticmethod
    def split(state):
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31, state

    def uniform(self):
        a, b, c, d = self.words
        found = rotated(b * 5 & MASK, 7) * 9 & MASK
        c, d = c ^ a, d ^ b
        self.words = [a ^ d, b ^ c, c ^ (b << 17 & MASK), rotated(d, 45)]
        return (found >> 11) * 2.0**-53


def key_of(name):
    """The lower half of XXH3_128bits of up to three bytes."""
    first, middle, last = name[0], name[len(name) // 2], name[-1]
    h = (first << 16 | middle << 24 | last | len(name) << 8) ^ 0x396CFEB8 ^ 0xBE4BA423
    h = (h ^ h >> 33) * 0xC2B2AE3D27D4EB4F & MASK
    h = (h ^ h >> 29) * 0x165667B19E3779F9 & MASK
    return h ^ h >> 32


def plasma(side, decay, stream):
    """As plasma_fractal() of make_cifar_c.py, whose changes are wobble * uniform(-wobble, wobble)."""
    heights, wobble, step = np.zeros((side, side)), 1.0, side

    def changes(shape):
        return wobble**2 * np.array([2 * stream.uniform() - 1 for _ in range(np.prod(shape))]).reshape(shape)

    while step >= 2:
        half = step // 2
        corners = heights[::step, ::step]
        pairs = corners + np.roll(corners, -1, axis=0)
        heights[half::step, half::step] = (pairs + np.roll(pairs, -1, axis=1)) / 4 + changes(corners.shape)
        middles, drawn = heights[half::step, half::step], changes((*corners.shape, 2))
        across = middles + np.roll(middles, 1, axis=0) + corners + np.roll(corners, -1, axis=1)
        down = middles + np.roll(middles, 1, axis=1) + corners + np.roll(corners, -1, axis=0)
        heights[::step, half::step] = across / 4 + drawn[..., 0]
        heights[half::step, ::step] = down / 4 + drawn[..., 1]
        step, wobble = half, wobble / decay
    heights -= heights.min()
    return heights / heights.max()


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_fog_is_that_of_numpy(severity, model, arrays):
    x, y = arrays[0][:12], arrays[1][:12]
    amount, decay = [(0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)][severity - 1]
    found = assay.attack(model, assay.data(x, y, range=(0, 1)), attack=f"fog[severity={severity}]", all=True, seed=7, pictures=0)
    foggy = found.arrays["fog"]["x"]
    assert foggy.shape == x.shape
    for record, picture in enumerate(x.astype(np.float64)):
        cloud = plasma(32, decay, Stream(7, key_of(str(record).encode()), 0))[:28, :28]
        most = picture.max()
        expected = np.clip((picture + amount * cloud) * most / (most + amount), 0, 1)
        np.testing.assert_allclose(foggy[record], expected, atol=2e-6, err_msg=str(record))
