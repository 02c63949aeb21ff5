"""PostgreSQL, on a real server: types, names, transactions, rights, and what messages do not say."""

import datetime as dt
import os
import subprocess
import sys
import time
from decimal import Decimal

import planted
import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, DataError
from coterie.files import tables as cio

QUASI = ["age", "zip"]
SECRETS = ("s3cr3t", "s3cr3t%2F")  # the password begins so


def many(rows=300):
    """People with a column of every usual type, and missing values in each."""
    at = dt.datetime(2024, 2, 29, 12, 30, 15, 123456)
    index = range(rows)

    def with_gaps(values, kind):
        return pa.array([None if i % 11 == 3 else value for i, value in enumerate(values)], kind)

    return pa.table(
        {
            "id": pa.array(index, pa.int64()),
            "age": with_gaps([20 + i % 60 for i in index], pa.int32()),
            "zip": with_gaps([f"{i % 40:05}" for i in index], pa.string()),
            "small": with_gaps([i % 100 - 50 for i in index], pa.int16()),
            "pay": with_gaps([Decimal(i) / 8 for i in index], pa.decimal128(12, 3)),
            "ratio": with_gaps([i / 7 for i in index], pa.float64()),
            "born": with_gaps([dt.date(1950 + i % 60, 1 + i % 12, 28) for i in index], pa.date32()),
            "seen": with_gaps([at + dt.timedelta(seconds=i) for i in index], pa.timestamp("us")),
            "sent": with_gaps([at + dt.timedelta(hours=i) for i in index], pa.timestamp("us", "UTC")),
            "wake": with_gaps([dt.time(i % 24, i % 60) for i in index], pa.time64("us")),
            "member": with_gaps([i % 3 == 0 for i in index], pa.bool_()),
            "photo": with_gaps([bytes([i % 256, 0, 255]) for i in index], pa.binary()),
            'naïve "note"; --': with_gaps([f"Zoë's “{i}” \\ \n 🙂" for i in index], pa.string()),
        }
    )


def test_types_and_missing_values_come_back(url):
    table = many()
    assert cio.write(table, f"{url}#people") == ""
    source = cio.read(f"{url}#people")
    assert source.table.equals(table)
    assert source.name == "postgresql://owner@/census#people"
    assert (source.path, source.sha256) == (None, None)


def test_arrow_types_without_a_match_are_stored_in_the_nearest(url):
    table = pa.table(
        {
            "byte": pa.array([1, None], pa.int8()),
            "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
            "category": pa.array(["a", None]).dictionary_encode(),
            "large": pa.array(["a", None], pa.large_string()),
            "view": pa.array(["a", None], pa.string_view()),
            "nothing": pa.nulls(2),
            "half": pa.array([1.5, None], pa.float16()),
            "fine": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ns", "Europe/Berlin")),
            "day": pa.array([dt.date(2024, 1, 1), None], pa.date64()),
            "list": pa.array([[1, 2], None], pa.list_(pa.int32())),
        }
    )
    cio.write(table, f"{url}#t")
    rows = cio.read(f"{url}#t").table.to_pylist()
    assert rows[1] == dict.fromkeys(table.column_names)
    assert rows[0] | {"fine": None} == {
        "byte": 1, "unsigned": Decimal(2**64 - 1), "category": "a", "large": "a", "view": "a", "nothing": None,
        "half": 1.5, "fine": None, "day": dt.date(2024, 1, 1), "list": [1, 2],
    }  # fmt: skip
    assert rows[0]["fine"].timestamp() == dt.datetime(2024, 1, 1, tzinfo=dt.UTC).timestamp()
    with pytest.raises(DataError, match="Column 'pair' is of type struct"):
        cio.write(pa.table({"pair": [{"a": 1}]}), f"{url}#u")


def test_types_of_postgresql_alone_come_as_text_or_numbers(server, url):
    server.run(
        "CREATE TYPE mood AS ENUM ('calm', 'glad')",
        "CREATE TABLE odd (e mood, u uuid, j jsonb, i inet, c char(5), m money, v interval, n numeric, "
        "n2 numeric(6,2), big numeric, nan numeric, tags text[], pt point)",
        "INSERT INTO odd VALUES ('glad', '7b3c8f0a-0000-4000-8000-000000000001', '{\"a\": 1}', '10.0.0.1', 'MA', "
        "12.5, '1 day', 1.25, 3.1, 1e40, 'NaN', '{x,y}', '(1,2)')",
        "INSERT INTO odd (e) VALUES (NULL), ('calm')",
    )
    table = cio.read(f"{server.url(user='postgres')}#odd").table
    assert table.to_pylist()[0] == {
        "e": "glad", "u": "7b3c8f0a-0000-4000-8000-000000000001", "j": '{"a": 1}', "i": "10.0.0.1/32", "c": "MA",
        "m": Decimal("12.50"), "v": "1 day", "n": Decimal("1.25"), "n2": Decimal("3.10"), "big": "1" + "0" * 40,
        "nan": "nan", "tags": ["x", "y"], "pt": "(1,2)",
    }  # fmt: skip
    assert table.schema.field("n2").type == pa.decimal128(6, 2)
    assert table["e"].to_pylist() == ["glad", None, "calm"]
    through_a_query = cio.read(f"{server.url(user='postgres')}#select e, n2 from odd order by e desc -- as it is").table
    assert through_a_query["e"].to_pylist() == [None, "glad", "calm"]


def test_dates_without_a_calendar_are_refused(server, url):
    server.run(
        "CREATE TABLE d (day date, at timestamp)", "INSERT INTO d VALUES ('infinity', now()), ('2024-01-01', now())"
    )
    with pytest.raises(DataError, match="Column 'day' has 1 dates that are infinite"):
        cio.read(f"{server.url(user='postgres')}#d")
    server.run("UPDATE d SET day = NULL", "UPDATE d SET at = '-infinity'")
    with pytest.raises(DataError, match="Column 'at' has 2 dates"):
        cio.read(f"{server.url(user='postgres')}#d")


def test_names_are_quoted(server, url):
    server.run('CREATE SCHEMA "odd ""schema" AUTHORIZATION owner')
    place = f'{url}#"odd ""schema"."ta.ble; DROP TABLE x --"'
    table = pa.table({'a"b': [1, 2], "é ; --": ["x", None]})
    cio.write(table, place)
    assert cio.read(place).table.equals(table)
    assert cio.read(place).name.endswith('#"odd ""schema"."ta.ble; DROP TABLE x --"')
    with pytest.raises(DataError, match="longer than 63 bytes"):
        cio.write(table, f"{url}#{'x' * 64}")


def test_rows_come_by_primary_key_or_as_they_lie(server, url):
    server.run(
        "CREATE TABLE keyed (b int, a text, kind bpchar(3), PRIMARY KEY (kind, b))",
        "INSERT INTO keyed SELECT (i * 7919) % 1000, i, 'k' || i % 3 FROM generate_series(0, 999) i",
        "CREATE TABLE bare AS SELECT (i * 7919) % 1000 AS b FROM generate_series(0, 999) i",
    )
    admin = server.url(user="postgres")
    keyed = cio.read(f"{admin}#keyed").table
    pairs = list(zip(keyed["kind"].to_pylist(), keyed["b"].to_pylist(), strict=True))
    assert pairs == sorted(pairs)
    assert len(pairs) == 1000
    assert cio.read(f"{admin}#bare").table["b"].to_pylist() == [i * 7919 % 1000 for i in range(1000)]
    assert cio.read(f"{admin}#select b from bare order by b desc limit 2").table["b"].to_pylist() == [999, 998]


def test_an_empty_table_is_refused_by_name(server, url):
    server.run("CREATE TABLE empty (a int)")
    with pytest.raises(DataError, match="postgresql://postgres@/census#empty has a header but no rows"):
        cio.read(f"{server.url(user='postgres')}#empty")


def test_a_table_without_rows_can_be_written(server, url):
    cio.write(pa.table({"a": pa.array([], pa.int32())}), f"{url}#empty")
    assert server.run("SELECT count(*) FROM empty") == [(0,)]


def test_an_existing_table_is_replaced_only_on_request(server, url):
    old, new = pa.table({"a": [1]}), pa.table({"b": ["x", "y"]})
    cio.write(old, f"{url}#t")
    with pytest.raises(ConfigError, match="census#t exists already"):
        cio.write(new, f"{url}#t")
    assert cio.read(f"{url}#t").table.equals(old)
    cio.write(new, f"{url}#t", force=True)
    assert cio.read(f"{url}#t").table.equals(new)
    server.run("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(ConfigError, match="is a view, not a table"):
        cio.write(new, f"{url}#v", force=True)
    with pytest.raises(DataError, match="views or keys depend on it"):
        cio.write(old, f"{url}#t", force=True)
    assert cio.read(f"{url}#t").table.equals(new)


def test_a_failure_in_the_middle_leaves_what_was_there(url):
    cio.write(pa.table({"a": ["before"]}), f"{url}#t")
    # A zero byte late in the table: PostgreSQL takes none, and says so when most rows are sent.
    bad = pa.table({"a": ["fine"] * 50_000 + ["with \0 SECRETCELL"] + ["fine"] * 10})
    with pytest.raises(DataError) as caught:
        cio.write(bad, f"{url}#t", force=True)
    assert "SECRETCELL" not in str(caught.value)
    assert "encoding" in str(caught.value)
    assert cio.read(f"{url}#t").table.to_pydict() == {"a": ["before"]}
    with pytest.raises(DataError):
        cio.write(bad, f"{url}#new")
    with pytest.raises(DataError, match="no table new"):
        cio.read(f"{url}#new")


KILLED = """
import sys, time
import pyarrow as pa
from coterie.files.databases import postgres as io_postgres
from coterie.files import tables as cio

def batches(rows):
    for _ in range(3):
        yield from rows.to_batches()
    print("sent", flush=True)
    time.sleep(60)

made = pa.RecordBatchReader.from_batches

class Slow:
    from_batches = staticmethod(lambda schema, given: made(schema, batches(pa.Table.from_batches(given))))

io_postgres.pa = type(pa)("slow")
io_postgres.pa.__dict__.update(pa.__dict__)
io_postgres.pa.RecordBatchReader = Slow
cio.write(pa.table({"a": ["x" * 100] * 20000}), sys.argv[1], force=True)
"""


def test_a_killed_run_leaves_what_was_there(server, url):
    cio.write(pa.table({"a": ["before"]}), f"{url}#t")
    with subprocess.Popen([sys.executable, "-c", KILLED, f"{url}#t"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "sent\n"
        process.kill()
    others = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'owner'"
    for _ in range(100):
        if server.run(others) == [(0,)]:
            break
        time.sleep(0.1)
    assert cio.read(f"{url}#t").table.to_pydict() == {"a": ["before"]}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select SECRETCELL from t", "refers to a column that does not exist"),
        ("select * from SECRETCELL", "refers to a table that does not exist"),
        ("select * fro t where a = 'SECRETCELL'", "is not valid SQL"),
        ("select 'SECRETCELL'::int from t", "has a value that cannot be converted"),
        ("select a::int from t", "has a value that cannot be converted"),
        ("select 1 / (n - 9000) as q from (select generate_series(1, 10000) as n) as x", "cannot be converted"),
        ("select 1; drop table t", "is not valid SQL"),
        ("with x as (delete from t returning *) select * from x", "is run read-only"),
    ],
)
def test_refused_queries_say_why_and_quote_nothing(url, query, said):
    cio.write(pa.table({"a": ["SECRETCELL"]}), f"{url}#t")
    with pytest.raises(DataError, match=said) as caught:
        cio.read(f"{url}#{query}")
    assert not any(secret in str(caught.value) for secret in ("SECRETCELL", *SECRETS))
    assert caught.value.__suppress_context__
    assert cio.read(f"{url}#t").table.num_rows == 1


def test_two_columns_of_a_name_are_refused(url):
    with pytest.raises(DataError, match="has more than one column 'a'"):
        cio.read(f"{url}#select 1 as a, 2 as a")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password": "wr0ng"}, "refuses the password"),
        ({"password": ""}, "wants a password"),
        ({"database": "nowhere"}, "does not exist"),
    ],
)
def test_refused_connections_say_why(server, url, change, said, monkeypatch):
    monkeypatch.setenv("PGPASSFILE", "/nowhere")
    with pytest.raises(DataError, match=said) as caught:
        cio.read(f"{server.url(**change)}#t")
    assert not any(secret in str(caught.value) for secret in (*SECRETS, "wr0ng"))


def test_no_server_and_bad_addresses_say_so(server, url):
    with pytest.raises(DataError, match="does not answer"):
        cio.read("postgresql://owner:s3cr3t@127.0.0.1:1/census#t")
    with pytest.raises(DataError, match="an address that libpq does not accept") as caught:
        cio.read("postgresql://owner:s3cr3t@127.0.0.1:99x/census?bogus=s3cr3t#t")
    assert "s3cr3t" not in str(caught.value)
    with pytest.raises(DataError, match=r"There is no table peple in .*There is people\."):
        cio.write(pa.table({"a": [1]}), f"{url}#people")
        cio.read(f"{url}#peple")
    with pytest.raises(ConfigError, match="there is no schema lost"):
        cio.write(pa.table({"a": [1]}), f"{url}#lost.t")
    guest = server.url(user="guest")
    with pytest.raises(ConfigError, match="may not create tables"):
        cio.write(pa.table({"a": [1]}), f"{guest}#t")
    with pytest.raises(DataError, match="may not be used by this user"):
        cio.read(f"{guest}#people")


@pytest.mark.parametrize("way", ["PGPASSWORD", "pgpass"])
def test_passwords_come_as_libpq_takes_them(server, url, way, tmp_path, monkeypatch):
    cio.write(pa.table({"a": [1]}), f"{url}#t")
    if way == "PGPASSWORD":
        monkeypatch.setenv("PGPASSWORD", server.password)
    else:
        path = tmp_path / "pgpass"
        path.write_text(f"*:*:census:owner:{server.password}\n", encoding="utf-8")
        path.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(path))
    assert cio.read(f"{server.url(password='')}#t").table.num_rows == 1


def test_from_table_to_table_on_the_command_line(server, url, tmp_path, capsys):
    table = many()
    cio.write(table, f"{url}#people")
    untouched = [name for name in table.column_names if name not in ("id", *QUASI)]
    roles = ["--quasi", "age,zip", "--identifier", "id", "--keep", ",".join(untouched), "-k", "5"]
    out = f"{url}#people_k5"
    assert main(["init", f"{url}#people"]) == 0
    assert main(["anonymize", f"{url}#people", *roles, "-o", out, "--report", "report.html"]) == 0
    assert main(["verify", out, "--quasi", "age,zip", "-k", "5"]) == 0
    assert main(["measure", f"{url}#people", out, "--quasi", "age,zip", "-k", "5"]) == 0
    assert main(["risk", f"{url}#people", out, "--quasi", "age,zip"]) == 0
    assert main(["anonymize", f"{url}#people", *roles, "-o", out]) == 2
    (tmp_path / "people_k5.coterie.toml").rename(tmp_path / "kept.toml")
    assert main(["anonymize", f"{url}#people", *roles, "-o", out]) == 2
    assert main(["anonymize", f"{url}#people", *roles, "-o", f"{url}#people", "--force"]) == 2
    assert main(["anonymize", f"{url}#missing", *roles, "-o", f"{url}#x"]) == 3
    printed = "".join(capsys.readouterr())
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert "Wrote postgresql://owner@/census" in printed
    assert "census#people_k5 exists already" in printed
    assert "is the input itself" in printed
    assert 'output = "postgresql://owner@/census#people_k5"' in written
    assert not any(secret in text for secret in SECRETS for text in (printed, written))

    published = cio.read(out).table
    assert coterie.verify(published, quasi=QUASI, k=5).passed
    assert published.select(untouched).equals(table.select(untouched))
    assert cio.read(f"{url}#people").table.equals(table)
    with_file = coterie.anonymize(table, quasi=QUASI, identifiers=["id"], keep=untouched, k=5)
    assert with_file.arrow.equals(published)


def test_a_population_in_a_database(server, url, tmp_path):
    table = many().select(["id", *QUASI])
    cio.write(table, f"{url}#people")
    release = coterie.anonymize(
        f"{url}#people", quasi=QUASI, identifiers=["id"], k=5, privacy=[f"k-map:6:{url}#select age, zip from people"]
    )
    release.write(f"{url}#out")
    text = (tmp_path / "out.coterie.toml").read_text(encoding="utf-8")
    assert "select age, zip from people" in text
    assert not any(secret in text for secret in SECRETS)
    assert "k-map" in text


MEMORY = """
import resource, sys
from coterie.files.databases import place as io_place, postgres as io_postgres
import pyarrow as pa

place = io_place.place_of(sys.argv[1])
kept = []
def count(batch):
    kept.append(batch.num_rows)
    return pa.RecordBatch.from_pylist([], schema=batch.schema)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
io_postgres.without_notes, io_postgres.plain_schema = count, lambda schema: schema
io_postgres.arrived = lambda column, given: column
io_postgres.read(place)
print(sum(kept), len(kept), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_rows_are_read_in_batches(url):
    query = "select i, md5(i::text) || md5((i + 1)::text) as m from generate_series(1, 2000000) as i"
    told = subprocess.run(
        [sys.executable, "-c", MEMORY, f"{url}#{query}"], capture_output=True, text=True, check=True, env=os.environ
    )
    rows, batches, kilobytes = map(int, told.stdout.split())
    assert rows == 2_000_000
    assert batches >= 5
    assert kilobytes < 100_000, "all rows at once would take 150,000"


def test_large_tables_go_out_in_batches(url):
    rows = 150_000
    table = pa.table({"a": pa.array(range(rows)), "b": pa.array([f"text {i % 97}" for i in range(rows)])})
    cio.write(table, f"{url}#large")
    assert cio.read(f"{url}#large").table.equals(table)


def database_bytes(server, schema="public"):
    """Everything that the database says of its tables: rows, comments, defaults, statistics, types, statements."""
    tables = [name for (name,) in server.run(f"SELECT tablename FROM pg_tables WHERE schemaname = '{schema}'")]
    found = [server.run(f'SELECT t::text FROM {schema}."{name}" t') for name in tables if name.startswith("released")]
    catalogues = ("pg_description", "pg_attrdef", "pg_stats", "pg_enum", "pg_type", "pg_constraint", "pg_class")
    about = {each: server.run(f"SELECT c::text FROM {each} c WHERE c::text LIKE '%{planted.SECRET}%'")
             for each in catalogues}  # fmt: skip
    return repr(found), about


@pytest.mark.parametrize("kind", ["arrow", "parquet", "table"])
def test_nothing_that_no_row_shows_reaches_the_database(url, server, tmp_path, kind):
    """Levels, metadata and removed rows of the input; comments, defaults, enums and statistics of its table."""
    places = {each for each in planted.PLACES if each != "nested"}
    data = planted.as_input(planted.planted_table(places), kind if kind != "table" else "arrow", tmp_path)
    if kind == "table":
        flat = pa.table({name: planted.storage(data.column(name)) for name in data.column_names})
        cio.write(flat.set_column(2, "disease", flat.column("disease").cast(pa.string())), f"{url}#people")
        server.run(
            f"COMMENT ON TABLE people IS '{planted.SECRET}'",
            f"COMMENT ON COLUMN people.word IS '{planted.SECRET}'",
            f"ALTER TABLE people ALTER COLUMN word SET DEFAULT '{planted.SECRET}'",
            f"CREATE TYPE ward AS ENUM ('word 0', 'word 1', 'word 2', 'word 3', '{planted.SECRET}')",
            f"ALTER TABLE people ADD CONSTRAINT honest CHECK (name <> 'not {planted.SECRET}')",
            "ANALYZE people",
        )
        data = f"{url}#people"
    _, before = database_bytes(server)
    suppress = [False] * (planted.ROWS - 1) + [True]
    roles = {"quasi": ["age"], "sensitive": ["disease"], "identifiers": ["name"], "keep": ["gap", "word"]}
    coterie.anonymize(
        data, **roles, k=3, method="mondrian", missing_values=[], suppressed="remove", suppress_rows=suppress,
        output=f"{url}#released",
    )  # fmt: skip
    server.run("ANALYZE released")
    rows, after = database_bytes(server)
    assert len(server.run("SELECT * FROM released")) == planted.ROWS - 1
    assert planted.SECRET not in rows
    assert after == before
    assert bool(before["pg_description"]) == (kind == "table")
