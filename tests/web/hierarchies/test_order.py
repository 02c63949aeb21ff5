"""The order of a column's values on the page: typed, checked, saved in place of a hierarchy."""

import re
import tomllib

from coterie.web.project import Project

GRADES = "Preschool,1st-4th,5th-6th,7th-8th,9th,10th,11th,12th,HS-grad"
ORDER = f"{GRADES},Some-college,Assoc-voc,Assoc-acdm,Bachelors,Masters,Prof-school,Doctorate".split(",")
TEXT = "\n".join(ORDER)


def configuration(project: Project) -> dict:
    return tomllib.loads(project.config_path.read_text())


def test_the_order_of_values_is_typed_and_survives(client, adult, names, education):
    faulty = TEXT.replace("9th\n", "", 1)
    assert client.post(f"{education}/order", data={"order": faulty}).status_code == 303
    page = client.get(f"{education}?view=start").text
    assert "1 value of the data is missing from the order: 9th." in page
    assert f">\n{faulty}</textarea>" in page  # what was typed is there again, and nothing was saved
    assert "ordered" not in configuration(adult)
    assert client.post(f"{education}/order", data={"order": TEXT + "\n\n"}).status_code == 303
    assert configuration(adult)["ordered"] == {"education": ORDER}
    assert "education" not in configuration(adult).get("hierarchies", {})  # a column has one or the other
    page = client.get(education).text
    assert f">\n{TEXT}</textarea>" in page
    assert "Ordered: published as intervals of ranks" in page
    assert "covers every value" in client.get(f"{adult.url}/hierarchies").text
    client.post(f"{education}/order", data={"order": TEXT + "\nMasters"})
    assert "lists a value twice" in client.get(f"{education}?view=start").text
    # A rule takes the place of the order.
    assert client.post(f"{education}/rule", data={"kind": "flat", "do": "save"}).status_code == 303
    assert "ordered" not in configuration(adult)
    assert configuration(adult)["hierarchies"]["education"] == "flat"


def test_numbers_have_their_own_order(client, adult, names):
    assert "Order the values" not in client.get(f"{adult.url}/hierarchies/{names.index('age')}").text


def test_an_order_that_changed_elsewhere_is_not_undone(client, adult, names, education):
    stamp = re.search(r'name="stamp" value="([^"]*)"', client.get(f"{education}?view=start").text)[1]
    client.post(f"{education}/order", data={"order": TEXT})
    other = "\n".join(reversed(ORDER))
    client.post(f"{education}/order", data={"order": other, "stamp": stamp})
    assert configuration(adult)["ordered"] == {"education": ORDER}
    page = client.get(f"{education}?view=start").text
    assert "changed in another tab" in page
    assert f">\n{other}</textarea>" in page
