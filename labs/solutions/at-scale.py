"""Answers to labs/at-scale.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_price = 140
your_trend = "fall"
your_vain_requests = {1: 1, 10: 10, 1000: 1000}
your_nodes = {10: 10, 100: 100, 101: 100, 1000: 420, 5000: 500, 10000: 500}
your_hum = {"writes a second": 500, "MB a second": 5}

MISTAKES = [
    Mistake(
        "price",
        12,
        "Those are the objects. Each is written several times, by several components.",
        seen=lambda writes: writes < 50,
    ),
    Mistake(
        "price",
        300,
        "That is more than it takes: a pod costs thirteen or fourteen writes.",
        seen=lambda writes: writes > 150,
    ),
    Mistake(
        "trend",
        "same",
        "Each pod costs the same, but there is something that only one pays for.",
    ),
    Mistake(
        "trend",
        "rise",
        "Nothing of it is written by every pod about every other.",
    ),
    Mistake(
        "vain_requests",
        {1: 1000},
        "The first one fails, and with it the first batch: nothing follows it.",
    ),
    Mistake(
        "vain_requests",
        {10: 1},
        "A batch is sent as a whole before anybody knows how it went.",
    ),
    Mistake(
        "nodes",
        {101: 49},
        "Never fewer than a hundred, if there are as many.",
    ),
    Mistake(
        "nodes",
        {10000: 100},
        "At least five percent, and that is more.",
    ),
    Mistake(
        "hum",
        {"writes a second": 50000},
        "Each writes once in ten seconds, not ten times in one.",
    ),
    Mistake(
        "hum",
        {"MB a second": 50},
        "Five hundred times ten kilobytes: count the zeros.",
    ),
]
