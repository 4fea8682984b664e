"""Which language a text is in, told by the small words that every text has.

Articles, prepositions and pronouns are a third of all words, differ between languages and are few;
scripts that one language alone uses need no words at all. It takes no model and no dictionary,
knows the languages below, and says nothing where a text is too short to tell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from labelspace.data.text.tokens import tokenize

_SMALL_WORDS = {
    "en": "the of and to in is that for it with as was on be by are this from or an at which "
    "not have has but they you we its their can will if into than been were when there "
    "how",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als "
    "auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem "
    "über zum zur oder",
    "fr": "le la les de des et en un une du dans est que pour qui par sur au avec plus pas ce "
    "il ne se sont ou son cette aux ses mais nous vous elle leur été être ont sans entre",
    "es": "el la los las de que en un una por con para del se es al como lo más pero sus su "
    "este esta ya entre cuando sobre también hay fue son sin muy años desde ser",
    "it": "il la le gli di che in un una per con del della dei delle al alla si non da è sono "
    "come più anche ma ha nel nella questo lo suo tra degli dalla era essere",
    "pt": "os as de que em um uma para com do da dos das no na nos se por mais como mas foi ao "
    "ele seu sua ou ser quando muito há já está também só pelo pela são não",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar bij "
    "of uit nog naar heeft worden deze door over ze wordt werd tot geen",
    "sv": "och att det som en på är av för med den till inte om ett men var han de så från vi "
    "har eller hon kan nu sin när efter vid där under",
    "da": "og at det som en på er af for med den til ikke om et men var han de så fra vi har "
    "eller hun kan sig efter ved der blev også være",
    "no": "og at det som en på er av for med den til ikke om et men var han de så fra vi har "
    "eller hun kan seg etter ved der ble også være",
    "fi": "ja on ei se että hän oli ovat joka mutta kun niin myös kuin tai sen jos ole vain nyt "
    "sekä hänen tämä voi mukaan jotka",
    "pl": "i w na z do się nie to że jest o jak ale po co tak za od przez dla tym przy są ich "
    "oraz jego może być był była które",
    "cs": "a v se na je že to s z do o i ve jako za by ale pro po od jsou jeho které která jsem "
    "nebo také při jen byl být",
    "tr": "ve bir bu da de için ile olarak çok daha gibi olan kadar ne sonra ama ya en ki her "
    "mi olduğu tarafından ise değil",
}
_SCRIPTS = {
    "el": r"[\u0370-\u03ff]",
    "ru": r"[\u0400-\u04ff]",
    "he": r"[\u0590-\u05ff]",
    "ar": r"[\u0600-\u06ff]",
    "hi": r"[\u0900-\u097f]",
    "th": r"[\u0e00-\u0e7f]",
    "ko": r"[\uac00-\ud7af]",
    "ja": r"[\u3040-\u30ff]",
    "zh": r"[\u4e00-\u9fff]",
}
NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "no": "Norwegian",
    "fi": "Finnish", "pl": "Polish", "cs": "Czech", "tr": "Turkish", "el": "Greek",
    "ru": "Russian", "he": "Hebrew", "ar": "Arabic", "hi": "Hindi", "th": "Thai",
    "ko": "Korean", "ja": "Japanese", "zh": "Chinese",
}  # fmt: skip
LEAST_HITS = 2
LEAST_LEAD = 1.5  # how much more the best language has to have than the next
LEAST_SHARE = 0.1  # of texts in a language, for it to be one that a model knows


def detect_language(text: str) -> str | None:
    """Return the language of a text as its two letters; None where that cannot be told.

    >>> detect_language("the cat is on the roof"), detect_language("le chat est sur le toit")
    ('en', 'fr')
    >>> detect_language("numpy") is None
    True
    """
    letters = sum(character.isalpha() for character in text)
    for language, script in _SCRIPTS.items():
        if letters and len(re.findall(script, text)) > 0.3 * letters:
            return language
    hits = Counter(
        language for word in tokenize(text) for language in _languages_of().get(word, ())
    )
    ranked = hits.most_common(2)
    if not ranked or ranked[0][1] < LEAST_HITS:
        return None
    runner_up = ranked[1][1] if len(ranked) > 1 else 0
    return ranked[0][0] if ranked[0][1] >= LEAST_LEAD * runner_up else None


def languages_of(texts: Iterable[str]) -> list[str]:
    """Return the languages that many texts are in, the most frequent first.

    >>> languages_of(["the cat is on the roof", "a dog is in the house", "x"])
    ['en']
    """
    counts = Counter(detect_language(text) for text in texts)
    counts.pop(None, None)
    total = sum(counts.values())
    return [str(one) for one, n in counts.most_common() if n >= LEAST_SHARE * total]


@lru_cache(maxsize=1)
def _languages_of() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, words in _SMALL_WORDS.items():
        for word in words.split():
            found.setdefault(word, []).append(language)
    return found
