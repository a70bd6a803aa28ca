"""Which packets of a stream get lost: patterns that a seed repeats."""
import random
from collections.abc import Callable

Pattern = Callable[[int, int], list[bool]]
"""Makes one for so many packets, from a seed; True is a packet that is lost."""


def none(count: int, seed: int) -> list[bool]:
    return [False] * count


def independent(share: float) -> Pattern:
    def pattern(count: int, seed: int) -> list[bool]:
        chance = random.Random(seed)
        return [chance.random() < share for _ in range(count)]

    return pattern


def bursts(share: float, length: float) -> Pattern:
    """Two states, as Gilbert has them: so many packets in a row are lost on average, and such a share of all."""

    def pattern(count: int, seed: int) -> list[bool]:
        chance, lost, result = random.Random(seed), False, []
        for _ in range(count):
            lost = chance.random() < (1 - 1 / length if lost else share / (1 - share) / length)
            result.append(lost)
        return result

    return pattern
