"""A wide table as hospitals have them, modelled on ten years of diabetes care in 130 hospitals, and the same words in other languages."""

from typing import Any

import numpy as np
import pyarrow as pa

ROWS = 2000
DRUGS = [
    "metformin",
    "repaglinide",
    "nateglinide",
    "chlorpropamide",
    "glimepiride",
    "acetohexamide",
    "glipizide",
    "glyburide",
    "tolbutamide",
    "pioglitazone",
    "rosiglitazone",
    "acarbose",
    "miglitol",
    "troglitazone",
    "tolazamide",
    "examide",
    "citoglipton",
    "insulin",
]
COUNTED = ["time_in_hospital", "num_lab_procedures", "num_procedures", "num_medications", "number_outpatient"]
COUNTED += ["number_emergency", "number_inpatient", "number_diagnoses"]
PRIVATE = ["encounter_id", "patient_nbr", "race", "weight", "payer_code", "diag_1", "diag_2", "diag_3"]
PRIVATE += ["max_glu_serum", "A1Cresult", "readmitted", "nhs_number", "dob", "post_code", "cause_of_death", "notes"]
CODES = ["250.83", "276", "648", "V27", "197", "250.7", "414", "428", "E909", "398", "434", "157", "518.0", "999"]


def nhs_number(number: int) -> str:
    """A number of nine digits with its check digit; the next one where it has none."""
    total = sum(int(d) * w for d, w in zip(f"{number:09}", range(10, 1, -1), strict=True))
    check = (11 - total % 11) % 11
    return nhs_number(number + 1) if check == 10 else f"{number:09}{check}"


def born(draw: np.random.Generator, rows: int) -> pa.Array:
    """Days on which patients were born: from 1920 on."""
    return pa.array(draw.integers(-18262, 14000, rows), pa.int32()).cast(pa.date32())


def wide_hospital(rows: int = ROWS) -> pa.Table:
    """52 columns, of which few are anybody's business."""
    draw = np.random.default_rng(130)
    people = draw.integers(0, round(rows * 0.8), rows)
    columns: dict[str, Any] = {
        "encounter_id": draw.permutation(rows) * 7 + 2_278_392,
        "patient_nbr": people * 1_013 + 8_222_157,
        "race": draw.choice(["Caucasian", "AfricanAmerican", "Asian", "Hispanic", "?"], rows),
        "gender": draw.choice(["Female", "Male"], rows),
        "age": draw.choice([f"[{low}-{low + 10})" for low in range(0, 100, 10)], rows),
        "weight": draw.choice(["?", "[75-100)", "[50-75)"], rows),
        "payer_code": draw.choice(["MC", "MD", "HM", "UN", "?"], rows),
        "medical_specialty": draw.choice(["Cardiology", "Surgery-General", "?", "InternalMedicine"], rows),
        **{name: draw.integers(0, 40, rows) for name in COUNTED},
        **{name: draw.choice(CODES, rows) for name in ("diag_1", "diag_2", "diag_3")},
        "max_glu_serum": draw.choice(["None", ">300", "Norm", ">200"], rows),
        "A1Cresult": draw.choice(["None", ">7", ">8", "Norm"], rows),
        **{name: draw.choice(["No", "Steady", "Up", "Down"], rows) for name in DRUGS},
        **{f"{name}-combined": draw.choice(["No", "Steady"], rows) for name in DRUGS[:5]},
        "change": draw.choice(["Ch", "No"], rows),
        "readmitted": draw.choice(["NO", "<30", ">30"], rows),
        "nhs_number": [nhs_number(400_000_000 + int(person) * 37) for person in people],
        "dob": born(draw, rows),
        "post_code": [f"LS{n % 28 + 1} {n % 9}{'ABDEFG'[n % 6]}{'HJLN'[n % 4]}" for n in draw.integers(0, 900, rows)],
        "cause_of_death": draw.choice(["heart", "stroke", "cancer", "none"], rows),
        "notes": [f"patient was seen on ward {n % 7} and went home with pain no. {n % 90}" for n in people],
    }
    return pa.table(columns)


LANGUAGES: dict[str, dict[str, str]] = {
    "German": {
        "identifier": "Nachname Versichertennummer Straße Telefonnummer",
        "traces": "Geburtsdatum Postleitzahl plz",
        "secret": "Hauptdiagnose Todesursache Einkünfte Konfession Herkunft Laborbefund Vorstrafen Gewerkschaft Parteizugehörigkeit",
        "public": "Geschlecht Alter Bundesland Station Aufnahme",
    },
    "French": {
        "identifier": "nom_de_famille prénom adresse",
        "traces": "date_de_naissance dateNaissance code_postal",
        "secret": "diagnostic_principal cause_du_décès revenu religion origineEthnique résultat_du_test casier_judiciaire syndicat",
        "public": "sexe pays trimestre",
    },
    "Spanish": {
        "identifier": "Apellidos dirección DNI",
        "traces": "fecha_de_nacimiento código_postal",
        "secret": "diagnóstico enfermedad causa_de_muerte salario religión etnia orientación_sexual antecedentes_penales",
        "public": "sexo edad provincia",
    },
    "Polish": {
        "identifier": "imię nazwisko PESEL",
        "traces": "data_urodzenia kod_pocztowy",
        "secret": "choroba rozpoznanie przyczyna_zgonu dochód wyznanie narodowość wynik_badania karalność",
        "public": "płeć wiek województwo",
    },
    "others": {
        "identifier": "cognome voornaam personnummer henkilötunnus příjmení keresztnév nume eponymo",
        "traces": "data_di_nascita geboortedatum fødselsdato syntymäaika datum_narození születési_dátum imerominia_gennisis",
        "secret": "malattia ziekte sjukdom sygdom sykdom sairaus nemoc betegség boala astheneia doença uskonto náboženství",
        "public": "sesso geslacht kön køn sukupuoli pohlaví idade",
    },
}
"""What columns are called, and what the name shall make of them; the values are few and repeat."""
