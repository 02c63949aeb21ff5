"""The count of compiled kernels comes last, when all others have used them."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "test_signatures.py" in item.nodeid)
