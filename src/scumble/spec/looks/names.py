"""What a column's name says, in the languages of Europe: WORDS match a whole word of the name, STEMS the inside of one.

Names are read without accents and in small letters: dateOfBirth, Date of Birth and DATE-OF-BIRTH are one name.
Where a word means something else in a neighbouring language, the reading that protects more is taken.
"""

import re
import unicodedata
from functools import lru_cache

BETWEEN_WORDS = re.compile(r"[\W_]+|(?<=[a-zß-ÿ])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_]{3})(?=\d)")
LETTERS = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})

STEMS: dict[str, str] = {
    "a date of birth": (
        "birthda date_of_birth dateofbirth birth_date birthdate year_of_birth birth_year geburtsdat geburtstag "
        "geburtsjahr geboortedat geboortejaar date_de_naissance date_naiss datenaiss annee_de_naissance naissance "
        "fecha_de_nac fecha_nac fechanac nacimiento data_di_nascita data_nascita nascita data_de_nasc data_nasc "
        "nascimento data_urodz urodzenia rok_urodz fodelsed fodelsedat fodselsd foedselsd fodselsdat syntymaaika "
        "syntymapaiva datum_narozeni narozeni szuletesi data_nasterii nasterii imerominia_gennisis gennisis "
        "datum_rodenja rodjenja rozhdeni"
    ),
    "a post code": (
        "post_code postcode postal_code postalcode postleitzahl zip_code zipcode code_postal codigo_postal "
        "codice_postale kod_pocztowy pocztowy postnummer postnr postinumero smerovaci iranyitoszam cod_postal "
        "codigopostal codepostal tachydromikos"
    ),
    "free text": (
        "comment remark free_text freetext narrative anamnes kommentar bemerkung freitext anmerkung remarque "
        "commentaire observacion observaca osservazion commento opmerking uwagi komentar anteckning huomautus "
        "poznamk megjegyz observatii paratirisi"
    ),
    "illness or health": (
        "disease diagnos diag_ illness disorder health medical_hist symptom morbid cause_of_death causeofdeath death "
        "mortal disab pregnan cancer tumor tumour diabet depress psych allerg vaccin smok alcohol addict rauch_ raucher fumeur fumador fumator tabac palaczy roker_ tupak "
        "readmi blood_gr blutgr groupe_sang grupo_sang gruppo_sang grupa_krwi bloedgroep seropos sieropos hospitaliz hospitalis "
        "krank erkrankung befund gesundheit todesursache verstorben schwanger behinder allergie sucht "
        "maladie sante deces cause_du_deces enceinte grossesse handicap enfermedad salud causa_de_muerte muerte "
        "defuncion embaraz discapac malattia salute decesso morte gravidanza disabil ziekte gezondheid doodsoorzaak "
        "overlijden zwanger doenca saude obito gravidez deficien choroba chorob zdrowi zgon rozpoznanie ciaza "
        "niepelnospraw sjukdom halsa dodsorsak gravid funktionsned sygdom helbred dodsarsag handikap sykdom helse "
        "sairaus terveys kuolinsyy raskaus nemoc zdrav umrti tehoten betegseg egeszseg halalok terhes boala sanatate "
        "deces diagnoz astheneia asthenia ygeia ygia thanatou bolest zdravl"
    ),
    "a result of a test": (
        "result glucose glu_serum blood_sug bloodsug blutzuck glycem glykem glucemi glicemi glikemi cukier_ bloedsuik "
        "blodsock verensok  hba1c a1c cholest hemoglob haemoglob creatin blood_pressure laborwert laborbefund "
        "ergebnis esame_ esami_ analisi_ badani_ laboratoire resultat resultad risultat uitslag wynik tulos vysledek vysledk eredmeny rezultat apotelesma "
        "genotyp genetic genom biometr"
    ),
    "a treatment or a drug": (
        "drug medicat medicin treatment therap surgery_type procedure_code dose dosage prescri medikament behandlung "
        "medicament traitement tratamiento trattamento farmac behandeling tratamento leczeni lekarstw lakemedel "
        "behandling laakitys laake leky lecba gyogyszer kezeles tratament therapeia farmak"
    ),
    "income or money": (
        "income salary wage earning lohn_ verdienst debt wealth credit_sc creditsc benefit_am loan einkommen einkunfte einkuenfte "
        "gehalt schulden vermogen vermoegen revenu salaire dette ingreso salario sueldo deuda renta reddito "
        "stipendio debito inkomen salaris schuld rendimento ordenado divida dochod zarobk wynagrodz pensja zadluz "
        "inkomst skuld indkomst gaeld inntekt gjeld palkka tulot velka prijem plat_ dluh jovedelem fizetes adossag "
        "venit salari datorie eisodima misthos"
    ),
    "religion or belief": (
        "relig konfession confession glauben kirchen culte croyance creencia credo_ geloof fede_ crenca wyznani "
        "trossamf trosretn uskonto nabozenstv vyznan vallas_ vallasi thriskeia thriskia church"
    ),
    "ethnic origin": (
        "ethnic ethnie etnic etnia racial hautfarbe herkunft migration_backgr migrationshint origine_eth "
        "razza nationality nationalit staatsangeh nacionalid nazionalita nationaliteit afkomst raca_ narodowosc "
        "obywatelstw etnisk etnick etnikai nemzetiseg etnie ethnikotita kansalaisuus native_country birthplace "
        "country_of_birth birth_country geburtsland pays_de_naiss citizenship immigrant"
    ),
    "sexual life": (
        "sexual orientation lgbt gender_ident hiv_ std_status orientierung orientacion orientamento geaardheid "
        "orientacao orientacja laggning seksuaal sexualni szexual orientare prosanatolismos seksual"
    ),
    "a criminal record": (
        "crime criminal offence offense convict arrest prison sentence_ felony straftat vorstrafe verurteil strafe_ "
        "casier_jud condamn delit infraction delito condena antecedentes_pen reato condanna misdrijf strafblad "
        "veroordel crime_ condena przestep karalnosc wyrok_ brott domd_ kriminal forbryd rikos tuomio trestny trest_ "
        "buncselek buntet infractiun cazier egklima katadik"
    ),
    "union membership": (
        "trade_union unionmem gewerkschaft syndicat sindicat sindacat vakbond zwiazek_zaw fackforbund "
        "fackfor fagforening ammattiliit odbory szakszerv syndikat syndikal"
    ),
    "politics": (
        "politic politik polit_ party_aff vote voting voter partei parti_pol vote_ elector voto_ partito "
        "partido partij stemgedrag partia_ glosowan parti_ valdistr puolue aanestys volebni partaffil partid_ "
        "psifos psifo"
    ),
    "an occupation": "occupation profession beruf_ beruf beroep ocupacion professione zawod_ yrke_ povolani foglalkoz",
}
"""What a person would not tell, or is found by, as it is called inside a word. An end with _ is the end of the word."""

WORDS: dict[str, str] = {
    "a date of birth": "dob born birth geboren ne_le nato_il nacido nascido urodzony fodd fodt fodsel syntynyt narozen szuletett",
    "a post code": "zip plz cap cp psc irsz outcode eircode",
    "free text": "note notes text texte texto testo notiz notizen notas nota memo description beschreibung notat",
    "illness or health": "diag dx icd icd9 icd10 bmi imc aids rauchen hiv dead died tod mort smrt dod kuolema copd",
    "a result of a test": "test wert lab labs exam examen esito valor",
    "a treatment or a drug": "rx therapy medication",
    "income or money": "pay lohn lon lonn stipend bonus",
    "religion or belief": "faith belief belijdenis vira vera",
    "ethnic origin": "race raza ethnicity skin tribe caste roma origin origine origen herkomst",
    "sexual life": "sexuality",
    "a criminal record": "guilty police",
    "union membership": "union",
    "politics": "party vote wahl",
}
"""The same as words of their own, too short to be looked for inside others."""

PERSON = (
    "id pid subjid usubjid "
    "name surname firstname lastname forename ssn nino nhs email mail phone mobile fax passport address street iban "
    "license licence insurance mrn url ip nbr identifier account username login signature photo "
    "vorname nachname familienname geburtsname strasse anschrift adresse telefon ausweis versicherten "
    "versichertennummer steuernummer kontonummer nom prenom telephone courriel nir adr nombre apellido apellidos "
    "direccion telefono correo dni nie nome cognome indirizzo codice_fiscale naam voornaam achternaam straat bsn "
    "burgerservicenummer morada endereco nif cpf imie nazwisko pesel adres ulica namn fornamn efternamn personnummer "
    "gata navn fornavn etternavn efternavn cpr fodselsnummer personnr nimi etunimi sukunimi hetu henkilotunnus osoite "
    "puhelin jmeno prijmeni rodne_cislo adresa telefonni nev keresztnev vezeteknev taj cim nume prenume cnp onoma "
    "eponymo amka afm dieuthynsi oib jmbg ime prezime"
)
NUMBERED = "no num nr nbr number nummer numero numer cislo szam numar id kod code"

ORDINARY = (
    "sex gender geschlecht sexe genre sexo genero sesso geslacht plec kon koen kjonn sukupuoli pohlavi neme fylo spol "
    "age alter altersgruppe altersklasse alder edad eta idade leeftijd wiek ika vek eletkor kor varsta ilikia "
    "region county state province district country land bundesland kreis landkreis departement pays comunidad "
    "provincia pais regione paese gewest provincie regiao distrito concelho wojewodztwo powiat kraj region lan kommun "
    "kommune fylke maakunta kunta okres megye judet tara periferia nomos continent municipality area zone city ville "
    "stadt ciudad citta stad cidade miasto kaupunki mesto varos oras poli urban rural "
    "ward station abteilung department service servicio reparto afdeling servico oddzial avdelning afdeling osasto "
    "oddeleni osztaly sectie tmima clinic hospital krankenhaus hopital ospedale ziekenhuis szpital site branch "
    "admission aufnahme admision ricovero opname admissao przyjecie intake "
    "year month quarter week weekday day jahr monat quartal woche annee mois trimestre ano mes anno mese jaar maand "
    "rok miesiac kwartal ar maned manad vuosi kuukausi mesic ev honap an luna etos minas season shift "
    "education school bildung schulbildung abschluss etudes educacion istruzione opleiding wyksztalcenie utbildning "
    "uddannelse koulutus vzdelani marital married familienstand civil"
)
"""Ordinary attributes of people and of their administration, which others know anyway."""

NEUTRAL = (
    "group groups band class category cat type level range code of the in at by per patient person respondent gruppe "
    "klasse tranche groupe grupo gruppo groep grupa status des de du la le der die das di do da w i van bin "
    "bracket years num"
)
"""Words beside them that change nothing."""


def folded(name: str) -> list[str]:
    """The words of a name, without accents and capital letters.

    >>> folded("Geburtsdatum (Straße)"), folded("dateNaissance2"), folded("NHSNumber"), folded("A1Cresult")
    (['geburtsdatum', 'strasse'], ['date', 'naissance', '2'], ['nhs', 'number'], ['a1cresult'])
    """
    words = [part for part in BETWEEN_WORDS.split(name) if part]
    plain = (unicodedata.normalize("NFKD", word.casefold().translate(LETTERS)) for word in words)
    return ["".join(c for c in word if not unicodedata.combining(c)) for word in plain]


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Stems before words, which say less: country_of_birth is no date, though it has the word birth."""
    inside = {kind: "|".join(re.escape(stem) for stem in stems.split()) for kind, stems in STEMS.items()}
    alone = {kind: "|".join(f"(?<=_){re.escape(w)}(?=_)" for w in words.split()) for kind, words in WORDS.items()}
    return [(kind, re.compile(text)) for kind, text in [*inside.items(), *alone.items()]]


def names_person(name: str) -> bool:
    """Whether a column is called like something that names a person, or numbers one.

    >>> [names_person(n) for n in ("Last Name", "patientId", "patient_nbr", "Telefonnummer", "valid", "tournament")]
    [True, True, True, True, False, False]
    """
    words, joined = folded(name), f"_{'_'.join(folded(name))}_"
    people = PERSON.split()
    ends = tuple(NUMBERED.split())
    return any(f"_{word}_" in joined for word in people) or any(
        word.removesuffix(end) in people for word in words for end in ends if word != end and word.endswith(end)
    )


def named_kind(name: str) -> str | None:
    """What private thing a column is called after, if any.

    >>> named_kind("dob"), named_kind("diag_1"), named_kind("Todesursache"), named_kind("region"), named_kind("kod_pocztowy")
    ('a date of birth', 'illness or health', 'illness or health', None, 'a post code')
    >>> named_kind("country_of_birth"), named_kind("birth")
    ('ethnic origin', 'a date of birth')
    """
    joined = f"_{'_'.join(folded(name))}_"
    return next((kind for kind, pattern in _patterns() if pattern.search(joined)), None)


def ordinary(name: str) -> bool:
    """Whether every word of a name is one of an ordinary attribute, or changes nothing.

    >>> ordinary("sex"), ordinary("Altersgruppe"), ordinary("age_group"), ordinary("partner_age"), ordinary("group")
    (True, True, True, False, False)
    """
    known, beside = set(ORDINARY.split()), set(NEUTRAL.split())
    words = [word for word in folded(name) if not word.isdigit()]
    return any(word in known for word in words) and all(word in known | beside for word in words)
