"""What a column's name suggests about its role: words of several languages, ignoring accents and case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeVar

Entry = TypeVar("Entry")

Role = Literal["identifier", "quasi", "sensitive", "other", "drop"]
Form = Literal["", "zip", "date", "age", "code"]


class Meaning(NamedTuple):
    """The meaning of a name: a role, the kind of thing it names, and the form of its values.

    The form `code` means that integers stand for categories.
    """

    role: Role
    what: str
    form: Form = ""


# Role and form of values → thing → words. A word matches a whole part of a name; a word with a space matches that many
# parts in a row, however they are joined: "zip code", "zipCode", "ZIP_CODE". No word is in two entries.
_THINGS: dict[tuple[Role, Form], dict[str, str]] = {
    ("identifier", ""): {
        "a person's name": "name|names|first name|last name|full name|middle name|maiden name|given name|forename"
        "|surname|firstname|lastname|fullname|username|user name|login|initials|fname|lname|vorname|nachname"
        "|familienname|nombre|apellido|apellidos|nom|prenom|cognome|nome|sobrenome|naam|voornaam|achternaam",
        "an e-mail address": "email|e mail|mail|correo|courriel",
        "a telephone number": "phone|telephone|mobile|cell|fax|tel|telefon|telefono|handy|portable|movil|celular",
        "an official number": "ssn|social security|passport|licence|license|license plate|licence plate|vin|iban"
        "|account|account number|credit card|card number|tax id|national id|nhs number|insurance number|medicare|nif"
        "|dni|cpf|cnp|bsn|svnr|personnummer|reisepass|pasaporte|passeport",
        "a record number": "id|ids|uid|uuid|guid|identifier|person id|patient id|customer id|user id|record id|row id"
        "|case number|mrn|patient number|patientennummer|kundennummer|matricule|record number|key|pk|index|unnamed",
        "a street address": "address|street|house number|strasse|anschrift|adresse|direccion|calle|rue|indirizzo"
        "|endereco|ip|ip address|url|website|device id|mac address",
        "a place on the map": "latitude|longitude|lat|lon|lng|coordinates|geohash|gps|easting|northing|latitud"
        "|longitud|breitengrad|laengengrad",
    },
    ("sensitive", ""): {
        "a state of health": "disease|diseases|diagnosis|diagnoses|diagnostic|illness|condition|symptom|symptoms|hiv"
        "|cancer|disability|drug|drugs|medication|medicine|treatment|therapy|blood|allergy|test result|result|outcome"
        "|comorbidity|mental|icd|icd10|krankheit|diagnose|behandlung|enfermedad|diagnostico|tratamiento|maladie"
        "|traitement|malattia|doenca|diagnosi|ziekte",
        "money": "income|salary|salaries|wage|wages|pay|earnings|revenue|debt|credit|capital|capital gain|capital loss"
        "|loan|balance|tax|taxes|salary class|gehalt|lohn|einkommen|salario|sueldo|ingreso|ingresos|renta|salaire"
        "|revenu|stipendio|reddito|renda|inkomen",
        "belief, conviction or private life": "religion|belief|faith|political|politics|party|vote|orientation"
        "|sexual orientation|union|crime|offence|offense|conviction|arrest|konfession|glaube|partei|religione|religiao"
        "|godsdienst",
        "an assessment": "grade|grades|score|gpa|rating|evaluation|note|notes|nota|noten",
    },
    ("quasi", "zip"): {
        "a postal code": "zip|zip code|zipcode|postal|postal code|postcode|post code|plz|postleitzahl|codigo postal|cp"
        "|code postal|cap|cep|zip3|zip5",
    },
    ("quasi", "date"): {
        "a date of a person's life": "birth|birthday|birth date|birthdate|date of birth|dob|born|death|dod|death date"
        "|admission|admitted|discharge|hire date|hired|geburt|geburtsdatum|geburtstag|nacimiento|fecha nacimiento"
        "|naissance|date naissance|nascita|nascimento|geboortedatum|year of birth|birth year|yob|geburtsjahr",
    },
    ("quasi", "age"): {
        "an age": "age|ages|alter|edad|eta|idade|leeftijd|age group|years old",
    },
    ("quasi", "code"): {
        "a sex or gender": "sex|gender|geschlecht|sexo|sexe|genre|genero|sesso|geslacht",
        "an ethnic origin": "race|ethnicity|ethnic|ethnic group|raza|etnia|ethnie|herkunft|tribe|caste",
        "a marital status": "marital|marital status|married|civil status|relationship|familienstand|estado civil"
        "|etat civil|stato civile|situation familiale|burgerlijke staat",
        "work": "job|occupation|profession|work|workclass|work class|employment|employer|employed|industry|sector"
        "|title|position|department|company|beruf|beschaeftigung|arbeit|trabajo|ocupacion|profesion|metier|emploi"
        "|professione|lavoro|profissao|beroep",
        "a place or nationality": "country|native country|nation|nationality|citizenship|state|province|region|county"
        "|district|city|town|village|municipality|location|residence|birthplace|place of birth|land"
        "|staatsangehoerigkeit|stadt|ort|bundesland|pais|nacionalidad|ciudad|provincia|pays|nationalite|ville"
        "|departement|paese|citta|cidade|estado|stad|tract|block",
        "a language": "language|mother tongue|sprache|idioma|langue|lingua",
    },
    ("quasi", ""): {
        "education": "education|educational|education num|schooling|school|degree|qualification|bildung|ausbildung"
        "|abschluss|educacion|estudios|diplome|istruzione|escolaridade|opleiding",
        "working hours": "hours|hours per week|working hours|work hours|arbeitszeit",
        "a household": "household|children|kids|dependents|family|family size|kinder|hijos|enfants|figli|filhos",
        "a body measure": "height|bmi|eye color|eye colour|hair color|hair colour|groesse|estatura|taille",
    },
}

_MOST_PARTS = 4


def parts(name: str) -> list[str]:
    """Split a column name into words at case changes, digits and symbols, without accents and case."""
    text = name.replace("ß", "ss").replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    text = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    words = re.split(r"[^A-Za-z0-9]+", text)
    return [word.casefold() for word in words if word]


_WORDS = {
    word: Meaning(role, what, form)
    for (role, form), things in _THINGS.items()
    for what, words in things.items()
    for word in words.split("|")
}


def meaning(name: str) -> Meaning | None:
    """Return what a column with this name probably contains, or nothing if the name does not say."""
    return find_in(_WORDS, name)


def find_in(words: Mapping[str, Entry], name: str) -> Entry | None:
    """Return the entry for the longest run of words in a name: "social security" before "security".

    Among runs of equal length it is the last, since English and German put the noun last: "patient age" is an age.
    """
    named = parts(name)
    for length in range(min(_MOST_PARTS, len(named)), 0, -1):
        for start in range(len(named) - length, -1, -1):
            run = named[start : start + length]
            found = words.get(" ".join(run)) or words.get("".join(run).rstrip("0123456789"))
            if found is not None:
                return found
    return None
