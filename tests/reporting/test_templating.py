"""Texts on pages: escaped, with code as code."""

import pytest

from coterie.reporting.templating import coded, environment


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Make `long` a quasi-identifier.", "Make <code>long</code> a quasi-identifier."),
        ("`a<b` and `c`", "<code>a&lt;b</code> and <code>c</code>"),
        ("<script> `</code><script>`", "&lt;script&gt; <code>&lt;/code&gt;&lt;script&gt;</code>"),
        ("one ` alone", "one ` alone"),
        ("`\x1b[31m`", "<code>\\x1b[31m</code>"),
    ],
)
def test_what_is_between_backticks_is_code_and_everything_is_escaped(text, shown):
    assert str(coded(text)) == shown
    page = environment("coterie.reporting").from_string("{{ text | coded }}")
    assert page.render(text=text) == shown
