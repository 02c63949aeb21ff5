"""Anonymize a small table with coterie, verify it and see what it cost. Nothing is downloaded.

Run it with `python examples/quickstart.py`.
"""

import pyarrow as pa

import coterie

people = pa.table(
    {
        "name": ["Ann", "Bob", "Cleo", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida"],
        "age": [34, 45, 29, 61, 58, 33, 47, 52, 30],
        "zip": ["02138", "02139", "02138", "02141", "02142", "02138", "02139", "02141", "02138"],
        "job": ["nurse", "baker", "doctor", "cook", "cook", "doctor", "baker", "cook", "nurse"],
        "disease": ["flu", "cold", "flu", "gout", "cold", "gout", "flu", "flu", "cold"],
    }
)

release = coterie.anonymize(
    people,
    quasi=["age", "zip", "job"],
    sensitive=["disease"],
    identifiers=["name"],
    hierarchies={
        "zip": coterie.prefixes(),
        "job": {"Health": ["nurse", "doctor"], "Food": ["baker", "cook"]},
    },
    k=3,
)

# The same kind of table as came in, in the same order, without the identifiers.
for row in release.frame.to_pylist():
    print(row)

# Verification needs nothing but the published table.
found = coterie.verify(release.frame, quasi=["age", "zip", "job"], k=3)
print(f"every row is one of at least {found.k}: {found.passed}")
print(f"loss: {release.measures['gcp']:.3f} (0: nothing lost, 1: nothing left)")
