"""Words of texts in many scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace.data.text.tokens import char_ngrams, tokenize, word_ngrams


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n.,;", []),
        (
            "Large-scale X-ray, 3D and COVID-19!",
            ["large", "scale", "ray", "3d", "and", "covid", "19"],
        ),
        ("snake_case_name", ["snake", "case", "name"]),
        ("a b c", []),
        ("Überprüfung Straße STRASSE", ["überprüfung", "strasse", "strasse"]),
        ("café café", ["café", "café"]),
        ("ΟΔΟΣ οδος", ["οδοσ", "οδοσ"]),
        ("Привет, мир", ["привет", "мир"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("한국어 문서", ["한국어", "문서"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("ﬁne ＡＢＣ１２", ["fine", "abc12"]),
        ("中", ["中"]),
        ("中文", ["中文"]),
        ("中文分词", ["中文", "文分", "分词"]),
        ("使用Python3编程", ["使用", "python3", "编程"]),
        ("ひらがなカナ", ["ひら", "らが", "がな", "なカ", "カナ"]),
        ("ﾊﾝｶｸ", ["ハン", "ンカ", "カク"]),
        ("𠮷野家", ["𠮷野", "野家"]),
    ],
)
def test_words_of_a_text(text, words):
    assert tokenize(text) == words


def test_thai_marks_stay_with_their_letter():
    tokens = tokenize("ภาษาไทยที่ดี")
    assert len(tokens) > 3
    assert not any(unicodedata.category(token[0])[0] == "M" for token in tokens)


@given(st.text())
def test_any_text_gives_words_without_blanks(text):
    for word in tokenize(text):
        assert word
        assert not any(letter.isspace() for letter in word)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_surroundings_do_not_matter(text):
    assert tokenize(f"  {text.upper()}!") == tokenize(text)


def test_word_ngrams_up_to_three():
    assert word_ngrams(["a1", "b2", "c3"], 3)[3:] == ["a1 b2", "b2 c3", "a1 b2 c3"]
    assert word_ngrams(["a1"], 3) == ["a1"]
    assert word_ngrams([], 2) == []


def test_char_ngrams_longer_than_the_word_are_left_out():
    assert char_ngrams(["ab"], 3, 9) == ["~_ab", "~ab_", "~_ab_"]
    assert char_ngrams([], 3, 5) == []


def test_runs_longer_than_the_text_take_no_time() -> None:
    assert word_ngrams(["red", "ball"], 10**12) == ["red", "ball", "red ball"]
