"""One configuration: the page, the command line and Python read and write the same file."""

from __future__ import annotations

import shlex
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_cases import send

import coterie
from coterie.cli.app import main
from coterie.settings.config import Config
from coterie.settings.toml import write_toml
from coterie.web.configuration import configuration
from coterie.web.configuration.edit import edited
from coterie.web.configuration.view import command_line, python_text
from coterie.web.table_summary import summary_of

TEXT = """# why we do this
k = 5  # agreed in May
quasi = [
    "age",  # everybody knows it
    "sex",
]
seed = 3

[weights]  # what it is worth
# sex matters most
sex = 2.0
age = 1.5

[hierarchies]
age = { intervals = [5, 10] }
"""


def test_a_change_keeps_comments_and_everything_else(adult):
    configuration.write_text(adult, TEXT)
    configuration.change(adult, {"k": 7, "purpose": "A study", "weights": {"sex": 3.0, "age": 1.5}})
    text = adult.config_path.read_text()
    values = tomllib.loads(text)
    assert values == {**tomllib.loads(TEXT), "k": 7, "purpose": "A study", "weights": {"sex": 3.0, "age": 1.5}}
    for comment in ("# why we do this", "# agreed in May", "# everybody knows it", "# what it is worth"):
        assert comment in text
    configuration.change(adult, {"k": 7})
    assert adult.config_path.read_text() == text


def test_what_no_longer_fits_the_roles_goes(adult):
    configuration.write_text(adult, TEXT)
    configuration.change(adult, {"quasi": ["sex"]})
    values = configuration.read_values(adult)
    assert values["weights"] == {"sex": 2.0}
    assert "hierarchies" not in values


_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
_plain = st.one_of(st.integers(0, 99), st.floats(0, 9), st.booleans(), _names)
_values = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 99),
        "quasi": st.lists(_names, max_size=6),
        "purpose": _names,
        "weights": st.dictionaries(_names, st.floats(0, 9), min_size=1, max_size=4),
        "options": st.dictionaries(_names, _plain, min_size=1, max_size=3),
        "hierarchies": st.dictionaries(
            _names,
            st.one_of(st.just("flat"), st.just({"intervals": [5, 10]}), st.just({"tree": {"a": {"b": ["c", "d"]}}})),
            min_size=1,
            max_size=3,
        ),
    },
)


@given(before=_values, after=_values)
def test_edited_text_says_what_it_should(before, after):
    text = edited(write_toml(before), after)
    assert tomllib.loads(text) == tomllib.loads(write_toml(after))


def test_the_command_line_that_is_shown_makes_the_same_release(client, adult, tmp_path, monkeypatch):
    others = [name for name in summary_of(adult).names if name not in ("age", "sex")]
    configuration.change(adult, {"method": "mondrian", "quasi": ["age", "sex"], "sensitive": [], "keep": others})
    words = shlex.split(command_line(adult).replace("\\\n", ""))
    assert words[0] == "coterie"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coterie.toml").write_text(client.get(f"{adult.url}/configuration/download").text)
    assert main([*words[1:], "-q"]) == 0
    made = (tmp_path / "release.csv").read_bytes()
    coterie.anonymize(adult.source, config=Config.from_toml(adult.config_path)).write(tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_bytes() == made
    # Both forms of the Python run, and make it too.
    text = python_text(adult, configuration.read_values(adult))
    (tmp_path / "release.csv").unlink()
    for name in ("report.html", "release.coterie.toml"):
        (tmp_path / name).unlink()
    names: dict[str, object] = {}
    exec(text, names)
    assert (tmp_path / "release.csv").read_bytes() == made
    names["release"].write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == made
    assert shlex.join(words).split()[:2] == ["coterie", "anonymize"]


def test_the_text_can_be_edited_and_faults_lose_nothing(client, adult):
    before = adult.config_path.read_bytes()
    answer = send(client, f"{adult.url}/configuration", data={"text": "k = \r\n# my thoughts"})
    assert answer.status_code == 422
    assert "not valid TOML" in answer.text
    assert adult.config_path.read_bytes() == before
    assert "# my thoughts" in client.get(f"{adult.url}/configuration").text
    answer = client.post(f"{adult.url}/configuration", data={"text": 'k = 4\r\nquasi = ["age"]\r\n'})
    assert answer.status_code == 303
    assert adult.config_path.read_text() == 'k = 4\nquasi = ["age"]\n'
    assert "# my thoughts" not in client.get(f"{adult.url}/configuration").text


def test_settings_that_are_wrong_are_shown_at_their_step(client, adult):
    client.post(f"{adult.url}/configuration", data={"text": 'k = 0\nquasi = ["age"]\nmethod = "none"\n'})
    page = client.get(f"{adult.url}/goals").text
    assert "must be at least 1" in page
    assert "has errors" in page
    answer = send(client, f"{adult.url}/run", data={"method": "auto", "action": "run"})
    assert answer.status_code == 422
    assert "must be at least 1" in answer.text
    assert adult.runs == []


def test_a_configuration_comes_from_a_path_with_the_hierarchies_beside_it(client, adult, files):
    (files / "sex.csv").write_text("Male;*\nFemale;*\n")
    (files / "mine.toml").write_text('# mine\nk = 3\nquasi = ["sex"]\n\n[hierarchies]\nsex = "sex.csv"\n')
    answer = client.post(f"{adult.url}/configuration/bring", data={"path": "mine.toml"}, files={"file": ("", b"")})
    assert answer.status_code == 303, answer.text
    config = Config.from_toml(adult.config_path)
    assert config.k == 3
    assert config.hierarchies["sex"] == coterie.Hierarchy.from_csv(files / "sex.csv")
    assert "# mine" in adult.config_path.read_text()


def test_an_uploaded_configuration_is_taken(client, adult):
    text = b'k = 6\nquasi = ["age"]\n'
    answer = client.post(f"{adult.url}/configuration/bring", files={"file": ("coterie.toml", text)})
    assert answer.status_code == 303
    assert Config.from_toml(adult.config_path).k == 6
    at = f"{adult.url}/configuration/bring"
    for sent, said in ((b"\xff\xfe\x00", "not text in UTF-8"), (b"k = [", "not valid TOML")):
        refused = send(client, at, files={"file": ("x", sent)})
        assert refused.status_code == 422
        assert said in refused.text
    nothing = send(client, at, files={"file": ("", b"")})
    assert 'href="#file"' in nothing.text
    elsewhere = send(client, at, files={"file": ("", b"")}, data={"path": "/etc/<b>passwd"})
    assert 'href="#path"' in elsewhere.text
    assert 'value="/etc/&lt;b&gt;passwd"' in elsewhere.text
    assert Config.from_toml(adult.config_path).k == 6


@pytest.mark.parametrize(
    "setting",
    [
        '[hierarchies]\nsex = "/etc/passwd"',
        '[hierarchies]\nsex = "../../../../etc/passwd"',
        'privacy = ["k-map:2:/etc/passwd"]',
        'privacy = " k_map : 2 : ../../secret.csv"',
        'privacy = [{ model = "k-map", k = 2, population = "/etc/passwd" }]',
        'privacy = ["k-map:2:postgresql://host/db#people"]',
    ],
    ids=["hierarchy", "hierarchy-dots", "population", "population-dots", "population-table", "database"],
)
def test_a_configuration_reads_no_file_outside_what_was_allowed(client, adult, setting):
    text = 'quasi = ["sex"]\n' + setting
    client.post(f"{adult.url}/configuration/bring", files={"file": ("coterie.toml", text.encode())})
    page = client.get(f"{adult.url}/configuration").text
    assert "outside the allowed folders" in page
    answer = send(client, f"{adult.url}/run", data={"method": "mondrian", "action": "run"})
    assert answer.status_code == 422
    assert adult.runs == []


def test_a_run_keeps_a_configuration_that_stands_alone(adult, tmp_path):
    (adult.folder / "sex.csv").write_text("Male;*\nFemale;*\n")
    configuration.write_text(adult, '# mine\nquasi = ["sex"]\n\n[hierarchies]\nsex = "sex.csv"\n')
    frozen = tmp_path / "coterie.toml"
    frozen.write_text(configuration.frozen(adult))
    assert coterie.Config.from_toml(frozen) == Config.from_toml(adult.config_path)
    assert "# mine" in frozen.read_text()
    plain = '# as it is\nquasi = ["sex"]\n'
    configuration.write_text(adult, plain)
    assert configuration.frozen(adult) == plain


def test_what_was_found_holds_until_a_file_changes(adult, monkeypatch):
    names = summary_of(adult).names
    (adult.folder / "sex.csv").write_text("Male;*\nFemale;*\n")
    keep = f"keep = {[name for name in names if name != 'sex']}\n"
    configuration.write_text(adult, f'quasi = ["sex"]\n{keep}[hierarchies]\nsex = "sex.csv"\n')
    assert configuration.problems_of(adult, names) == []
    with monkeypatch.context() as patched:
        patched.setattr(configuration, "problems_in", lambda *_: pytest.fail("it was worked out again"))
        assert configuration.problems_of(adult, names) == []
    (adult.folder / "sex.csv").write_text("Male;A;*\nFemale;A;Other\n")
    assert configuration.problems_of(adult, names) != []
    (adult.folder / "sex.csv").unlink()
    assert configuration.problems_of(adult, names) != []
    configuration.write_text(adult, f'quasi = ["sex"]\n{keep}')
    assert configuration.problems_of(adult, names) == []
    assert configuration.problems_of(adult, ["age"]) != []
