"""Words of a text in any language.

A word is a run of letters, digits and the marks that belong to them (vowel signs of Hindi, accents
that stand alone), after Unicode compatibility normalisation (NFKC) and case folding. Scripts that
put no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are cut into pairs of
neighbouring characters instead, which needs no dictionary and finds most words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

# Blocks of the scripts that are written without spaces.
_SPACELESS_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x3005, 0x3007),  # iteration mark and zero of Han
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Burmese, extended
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),  # Han, compatibility
)
# Beyond the basic plane, whole planes: naming each block there would slow every match down.
_RARE_SCRIPTS = "\U00010000-\U0001efff"
_RARE_HAN = "\U00020000-\U0003ffff"
# Marks that may stand inside a word without belonging to it: soft hyphen, joiners, byte order mark.
_INVISIBLE = re.compile("[\u00ad\u200c\u200d\u2060\ufeff]")


def tokenize(text: str) -> list[str]:
    """Return the words of a text, in order; a single letter or digit is none.

    >>> tokenize("Sparse  Eigen-Solvers, ＦＦＴ (x2)")
    ['sparse', 'eigen', 'solvers', 'fft', 'x2']
    >>> tokenize("हिन्दी में Straße")
    ['हिन्दी', 'में', 'strasse']
    >>> tokenize("机器学习 with Python")
    ['机器', '器学', '学习', 'with', 'python']
    """
    words, spaceless, either = _patterns()
    if text.isascii():
        return words.findall(text.lower())
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    if spaceless.search(text) is None:
        return words.findall(text)
    tokens: list[str] = []
    for run in either.findall(text):
        if spaceless.match(run):
            tokens.extend(_pairs(run))
        else:
            tokens.append(run)
    return tokens


def word_ngrams(words: list[str], longest: int) -> list[str]:
    """Return the words and all runs of up to ``longest`` of them.

    >>> word_ngrams(["fast", "fourier", "transform"], 2)
    ['fast', 'fourier', 'transform', 'fast fourier', 'fourier transform']
    """
    ngrams = list(words)
    for size in range(2, min(longest, len(words)) + 1):
        ngrams.extend(" ".join(words[at : at + size]) for at in range(len(words) - size + 1))
    return ngrams


def char_ngrams(words: list[str], shortest: int, longest: int) -> list[str]:
    """Return the pieces of each word, with ``_`` for its ends and ``~`` in front as a sign.

    >>> char_ngrams(["fft"], 3, 4)
    ['~_ff', '~fft', '~ft_', '~_fft', '~fft_']
    """
    pieces: list[str] = []
    for word in words:
        padded = f"_{word}_"
        for size in range(shortest, min(longest, len(padded)) + 1):
            pieces.extend(f"~{padded[at : at + size]}" for at in range(len(padded) - size + 1))
    return pieces


def _pairs(run: str) -> list[str]:
    """Cut a run without spaces into overlapping pairs of characters, each with its marks."""
    characters: list[str] = []
    for letter in run:
        if characters and unicodedata.category(letter)[0] == "M":
            characters[-1] += letter
        else:
            characters.append(letter)
    if len(characters) == 1:
        return characters
    return [first + second for first, second in pairwise(characters)]


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of words, of runs without spaces, and of either.

    Python's ``\\w`` has no marks, so the classes are spelled out; up to U+FFFF the ``re`` module
    turns them into a table, which is as fast.
    """
    in_words: list[int] = []
    in_runs: list[int] = []
    for code in range(0x10000):
        if unicodedata.category(chr(code))[0] in "LMN":
            spaceless = any(first <= code <= last for first, last in _SPACELESS_BLOCKS)
            (in_runs if spaceless else in_words).append(code)
    words = f"[{_ranges(in_words)}{_RARE_SCRIPTS}]{{2,}}"
    runs = f"[{_ranges(in_runs)}{_RARE_HAN}]+"
    return re.compile(words), re.compile(runs), re.compile(f"{words}|{runs}")


def _ranges(codes: list[int]) -> str:
    """Write sorted code points as the inside of a character class."""
    parts = []
    start = 0
    for at in range(1, len(codes) + 1):
        if at == len(codes) or codes[at] != codes[at - 1] + 1:
            parts.append(f"\\u{codes[start]:04x}-\\u{codes[at - 1]:04x}")
            start = at
    return "".join(parts)
