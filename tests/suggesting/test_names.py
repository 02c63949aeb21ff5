"""The words of column names."""

from coterie.suggesting.hipaa import _WORDS as SAFE_HARBOR_WORDS
from coterie.suggesting.names import _THINGS


def test_no_word_has_two_meanings():
    listed = [words for things in _THINGS.values() for words in things.values()]
    for lists in (listed, SAFE_HARBOR_WORDS.values()):
        words = [word for each in lists for word in each.split("|")]
        assert len(words) == len(set(words))
