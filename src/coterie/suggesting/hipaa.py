"""The identifiers listed in HIPAA's Safe Harbor, recognized by column names.

45 CFR 164.514(b)(2)(i), (A) to (R). A hint is not a verdict: only names are examined, free text may name people
whatever its column's name, and Safe Harbor also requires that nobody is known to be able to identify them otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

from coterie.suggesting.names import find_in


class Identifier(NamedTuple):
    """One entry of the list."""

    letter: str
    what: str
    """the rule's subject and requirement"""


# Letter and rule → words in column names; one with spaces matches that many consecutive parts of a name.
_WORDS = {
    ("A", "names: remove"): "name|names|surname|forename|initials|first name|last name|full name|middle name"
    "|maiden name|given name|firstname|lastname|fullname|fname|lname|username|nickname|vorname|nachname|nombre"
    "|apellido|nom|prenom",
    ("B", "places smaller than a state: three ZIP digits at most, 000 where 20,000 people or fewer live"): "zip"
    "|zipcode|zip code|postal|postal code|postcode|post code|plz|address|street|city|town|village|county|precinct"
    "|census tract|tract|block|geocode|latitude|longitude|lat|lon|lng|easting|northing|coordinates|neighborhood"
    "|district",
    ("C", "dates of a person: keep only the year, and combine all ages over 89"): "birth|birthday|birthdate|birth date"
    "|date of birth|dob|death|dod|death date|admission|admitted|admit date|discharge|discharge date|date|visit date"
    "|age|ages|geburtsdatum|alter",
    ("D", "telephone numbers: remove"): "phone|telephone|mobile|cell|cellphone|tel|telefon|telefono",
    ("E", "fax numbers: remove"): "fax",
    ("F", "e-mail addresses: remove"): "email|e mail|mail|correo",
    ("G", "social security numbers: remove"): "ssn|social security|social security number|sin|nin",
    ("H", "medical record numbers: remove"): "mrn|medical record|medical record number|chart number",
    ("I", "health plan beneficiary numbers: remove"): "beneficiary|beneficiary number|health plan|plan number|medicare"
    "|medicare number|medicaid|insurance number|member id|policy number|nhs number",
    ("J", "account numbers: remove"): "account|account number|iban|credit card|card number|bank account",
    ("K", "certificate and licence numbers: remove"): "license|licence|license number|licence number|certificate"
    "|certificate number|passport|npi",
    ("L", "vehicle identifiers and licence plates: remove"): "vin|vehicle|license plate|licence plate|plate"
    "|plate number|registration number",
    ("M", "device identifiers and serial numbers: remove"): "device|device id|serial|serial number|imei|mac address"
    "|udi",
    ("N", "web addresses: remove"): "url|website|web address|homepage|link",
    ("O", "IP addresses: remove"): "ip|ip address|ipaddress",
    ("P", "biometric identifiers: remove"): "fingerprint|voiceprint|voice print|biometric|retina|iris|dna",
    ("Q", "full-face photographs: remove"): "photo|photograph|picture|image|face|portrait",
    ("R", "any other unique number or code: remove"): "id|ids|uid|uuid|guid|identifier|patient id|person id|user id"
    "|record id|subject id|customer id|employee id|case number|record number|key|pk|patient number|patientennummer",
}

SAFE_HARBOR = {word: Identifier(*entry) for entry, words in _WORDS.items() for word in words.split("|")}
"""word → the entry that it belongs to"""


def safe_harbor(name: str) -> Identifier | None:
    """Return the entry of the list that a column with this name probably falls under, or None.

    The longest run of words decides; among runs of equal length, the last: "patient id" before "id".
    """
    return find_in(SAFE_HARBOR, name)
