r"""The sets behind ``\p{...}``: names exactly as V8 knows them, members as near as the standard library allows.

General categories are exact for Python's Unicode version. Scripts are found by the first word of the character
names, binary properties by str methods; both may differ from the Unicode tables for rarely used characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache

from .charset import ANYTHING, CharSet, complement, from_ranges, union

_CATEGORIES = """
C=Other Cc=Control=cntrl Cf=Format Cn=Unassigned Co=Private_Use Cs=Surrogate L=Letter LC=Cased_Letter
Ll=Lowercase_Letter Lm=Modifier_Letter Lo=Other_Letter Lt=Titlecase_Letter Lu=Uppercase_Letter M=Mark=Combining_Mark
Mc=Spacing_Mark Me=Enclosing_Mark Mn=Nonspacing_Mark N=Number Nd=Decimal_Number=digit Nl=Letter_Number No=Other_Number
P=Punctuation=punct Pc=Connector_Punctuation Pd=Dash_Punctuation Pe=Close_Punctuation Pf=Final_Punctuation
Pi=Initial_Punctuation Po=Other_Punctuation Ps=Open_Punctuation S=Symbol Sc=Currency_Symbol Sk=Modifier_Symbol
Sm=Math_Symbol So=Other_Symbol Z=Separator Zl=Line_Separator Zp=Paragraph_Separator Zs=Space_Separator
"""
_SCRIPTS = """
Adlm=Adlam Aghb=Caucasian_Albanian Ahom Arab=Arabic Armi=Imperial_Aramaic Armn=Armenian Avst=Avestan Bali=Balinese
Bamu=Bamum Bass=Bassa_Vah Batk=Batak Beng=Bengali Bhks=Bhaiksuki Bopo=Bopomofo Brah=Brahmi Brai=Braille Bugi=Buginese
Buhd=Buhid Cakm=Chakma Cans=Canadian_Aboriginal Cari=Carian Cham Cher=Cherokee Chrs=Chorasmian Copt=Coptic=Qaac
Cpmn=Cypro_Minoan Cprt=Cypriot Cyrl=Cyrillic Deva=Devanagari Diak=Dives_Akuru Dogr=Dogra Dsrt=Deseret Dupl=Duployan
Egyp=Egyptian_Hieroglyphs Elba=Elbasan Elym=Elymaic Ethi=Ethiopic Geor=Georgian Glag=Glagolitic Gong=Gunjala_Gondi
Gonm=Masaram_Gondi Goth=Gothic Gran=Grantha Grek=Greek Gujr=Gujarati Guru=Gurmukhi Hang=Hangul Hani=Han Hano=Hanunoo
Hatr=Hatran Hebr=Hebrew Hira=Hiragana Hluw=Anatolian_Hieroglyphs Hmng=Pahawh_Hmong Hmnp=Nyiakeng_Puachue_Hmong
Hung=Old_Hungarian Ital=Old_Italic Java=Javanese Kali=Kayah_Li Kana=Katakana Kawi Khar=Kharoshthi Khmr=Khmer Khoj=Khojki
Kits=Khitan_Small_Script Knda=Kannada Kthi=Kaithi Lana=Tai_Tham Laoo=Lao Latn=Latin Lepc=Lepcha Limb=Limbu Lina=Linear_A
Linb=Linear_B Lisu Lyci=Lycian Lydi=Lydian Mahj=Mahajani Maka=Makasar Mand=Mandaic Mani=Manichaean Marc=Marchen
Medf=Medefaidrin Mend=Mende_Kikakui Merc=Meroitic_Cursive Mero=Meroitic_Hieroglyphs Mlym=Malayalam Modi Mong=Mongolian
Mroo=Mro Mtei=Meetei_Mayek Mult=Multani Mymr=Myanmar Nagm=Nag_Mundari Nand=Nandinagari Narb=Old_North_Arabian
Nbat=Nabataean Newa Nkoo=Nko Nshu=Nushu Ogam=Ogham Olck=Ol_Chiki Orkh=Old_Turkic Orya=Oriya Osge=Osage Osma=Osmanya
Ougr=Old_Uyghur Palm=Palmyrene Pauc=Pau_Cin_Hau Perm=Old_Permic Phag=Phags_Pa Phli=Inscriptional_Pahlavi
Phlp=Psalter_Pahlavi Phnx=Phoenician Plrd=Miao Prti=Inscriptional_Parthian Rjng=Rejang Rohg=Hanifi_Rohingya Runr=Runic
Samr=Samaritan Sarb=Old_South_Arabian Saur=Saurashtra Sgnw=SignWriting Shaw=Shavian Shrd=Sharada Sidd=Siddham
Sind=Khudawadi Sinh=Sinhala Sogd=Sogdian Sogo=Old_Sogdian Sora=Sora_Sompeng Soyo=Soyombo Sund=Sundanese
Sylo=Syloti_Nagri Syrc=Syriac Tagb=Tagbanwa Takr=Takri Tale=Tai_Le Talu=New_Tai_Lue Taml=Tamil Tang=Tangut Tavt=Tai_Viet
Telu=Telugu Tfng=Tifinagh Tglg=Tagalog Thaa=Thaana Thai Tibt=Tibetan Tirh=Tirhuta Tnsa=Tangsa Toto Ugar=Ugaritic
Vaii=Vai Vith=Vithkuqi Wara=Warang_Citi Wcho=Wancho Xpeo=Old_Persian Xsux=Cuneiform Yezi=Yezidi Yiii=Yi
Zanb=Zanabazar_Square Zinh=Inherited=Qaai Zyyy=Common Zzzz=Unknown Gara=Garay Gukh=Gurung_Khema Krai=Kirat_Rai
Onao=Ol_Onal Sunu=Sunuwar Todr=Todhri Tutg=Tulu_Tigalari Berf=Beria_Erfe Sidt=Sidetic Tayo=Tai_Yo Tols=Tolong_Siki
"""
_BINARY = """
ASCII AHex=ASCII_Hex_Digit Alpha=Alphabetic Any Assigned Bidi_C=Bidi_Control Bidi_M=Bidi_Mirrored CI=Case_Ignorable
Cased CWCF=Changes_When_Casefolded CWCM=Changes_When_Casemapped CWL=Changes_When_Lowercased
CWKCF=Changes_When_NFKC_Casefolded CWT=Changes_When_Titlecased CWU=Changes_When_Uppercased Dash
DI=Default_Ignorable_Code_Point Dep=Deprecated Dia=Diacritic Emoji EComp=Emoji_Component EMod=Emoji_Modifier
EBase=Emoji_Modifier_Base EPres=Emoji_Presentation ExtPict=Extended_Pictographic Ext=Extender Gr_Base=Grapheme_Base
Gr_Ext=Grapheme_Extend Hex=Hex_Digit IDSB=IDS_Binary_Operator IDST=IDS_Trinary_Operator IDC=ID_Continue IDS=ID_Start
Ideo=Ideographic Join_C=Join_Control LOE=Logical_Order_Exception Lower=Lowercase Math NChar=Noncharacter_Code_Point
Pat_Syn=Pattern_Syntax Pat_WS=Pattern_White_Space QMark=Quotation_Mark Radical RI=Regional_Indicator
STerm=Sentence_Terminal SD=Soft_Dotted Term=Terminal_Punctuation UIdeo=Unified_Ideograph Upper=Uppercase
VS=Variation_Selector space=White_Space XIDC=XID_Continue XIDS=XID_Start
"""
_CATEGORY_KEYS = ("General_Category", "gc")
_SCRIPT_KEYS = ("Script", "sc", "Script_Extensions", "scx")

_SPARSE_AREAS = ((0, 0x33FF), (0x4DC0, 0x4DFF), (0x9FFD, 0xABFF), (0xD7A4, 0xD7FF), (0xE000, 0xE000), (0xF900, 0x1FFFF))
"""Where neighbouring code points differ; the rest are long runs of one category, or unassigned."""
_UNIFORM_AREAS = ((0x3400, 0x4DBF, "Lo"), (0x4E00, 0x9FFC, "Lo"), (0xAC00, 0xD7A3, "Lo"), (0xD800, 0xDFFF, "Cs"),
                  (0xE001, 0xF8FF, "Co"), (0x20000, 0x2A6DF, "Lo"), (0x2A700, 0x2B734, "Lo"), (0x2B740, 0x2B81D, "Lo"),
                  (0x2B820, 0x2CEA1, "Lo"), (0x2CEB0, 0x2EBE0, "Lo"), (0x2F800, 0x2FA1D, "Lo"),
                  (0x30000, 0x3134A, "Lo"), (0xE0100, 0xE01EF, "Mn"), (0xE0020, 0xE007F, "Cf"),
                  (0xF0000, 0xFFFFD, "Co"), (0x100000, 0x10FFFD, "Co"))  # fmt: skip


@cache
def _aliases(table: str) -> dict[str, str]:
    """Every spelling of a name, mapped to the first one."""
    groups = (entry.split("=") for entry in table.split())
    return {name: group[0] for group in groups for name in group}


def property_set(name: str, value: str | None = None) -> CharSet | None:
    """The members of ``\\p{name}`` or ``\\p{name=value}``; None for a name that the engine does not know."""
    if value is not None:
        if name in _CATEGORY_KEYS and value in _aliases(_CATEGORIES):
            return _category_set(_aliases(_CATEGORIES)[value])
        if name in _SCRIPT_KEYS and value in _aliases(_SCRIPTS):
            return _script_set(_long_script_name(value))
        return None
    if name in _aliases(_CATEGORIES):
        return _category_set(_aliases(_CATEGORIES)[name])
    if name in _aliases(_BINARY):
        return _binary_set(_aliases(_BINARY)[name])
    return None


def _long_script_name(value: str) -> str:
    """The spelling that character names begin with."""
    short = _aliases(_SCRIPTS)[value]
    group = [name for name, first in _aliases(_SCRIPTS).items() if first == short]
    return group[1] if len(group) > 1 else group[0]


@cache
def _runs() -> dict[str, CharSet]:
    """The code points of each two-letter general category."""
    found: dict[str, list[tuple[int, int]]] = {}
    for first, last in _SPARSE_AREAS:
        low, current = first, unicodedata.category(chr(first))
        for code in range(first + 1, last + 1):
            category = unicodedata.category(chr(code))
            if category != current:
                found.setdefault(current, []).append((low, code - 1))
                low, current = code, category
        found.setdefault(current, []).append((low, last))
    for low, high, category in _UNIFORM_AREAS:
        found.setdefault(category, []).append((low, high))
    sets = {category: from_ranges(ranges) for category, ranges in found.items() if category != "Cn"}
    sets["Cn"] = complement(union(*sets.values()))
    return sets


@cache
def _category_set(name: str) -> CharSet:
    if name == "LC":
        return union(*(_runs()[category] for category in ("Ll", "Lt", "Lu")))
    return union(*(ranges for category, ranges in _runs().items() if category.startswith(name)))


@cache
def _script_set(name: str) -> CharSet:
    if name in ("Common", "Inherited", "Unknown"):
        return _category_set({"Common": "P", "Inherited": "Mn"}.get(name, "Cn"))
    if name == "Han":
        return from_ranges([(0x2E80, 0x2FD5), (0x3005, 0x3005), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9),
                            (0x20000, 0x323AF)])  # fmt: skip
    if name == "Hangul":
        return from_ranges([(0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3)])
    prefix = name.upper().replace("_", " ")
    letters = (*_category_set("L"), *_category_set("M"), *_category_set("N"))
    return _members(lambda character: unicodedata.name(character, "").startswith(prefix), letters)


def _members(belongs: Callable[[str], bool], within: CharSet) -> CharSet:
    """The characters of the sparse areas that satisfy the predicate."""
    codes = (
        code
        for low, high in within
        for first, last in _SPARSE_AREAS
        for code in range(max(low, first), min(high, last) + 1)
        if belongs(chr(code))
    )
    return from_ranges((code, code) for code in codes)


_EXACT: dict[str, CharSet] = {
    "Any": ANYTHING,
    "ASCII": ((0, 0x7F),),
    "AHex": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
    "Hex": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66), (0xFF10, 0xFF19), (0xFF21, 0xFF26), (0xFF41, 0xFF46)),
    "RI": ((0x1F1E6, 0x1F1FF),),
    "VS": ((0x180B, 0x180D), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF)),
    "EMod": ((0x1F3FB, 0x1F3FF),),
    "Join_C": ((0x200C, 0x200D),),
    "space": ((9, 13), (32, 32), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
              (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
    "Pat_WS": ((9, 13), (32, 32), (0x85, 0x85), (0x200E, 0x200F), (0x2028, 0x2029)),
    "Emoji": ((0x23, 0x23), (0x2A, 0x2A), (0x30, 0x39), (0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2049, 0x2049),
              (0x2122, 0x2122), (0x2139, 0x2139), (0x2194, 0x21AA), (0x231A, 0x23FA), (0x2600, 0x27BF),
              (0x1F004, 0x1F004), (0x1F170, 0x1F265), (0x1F300, 0x1F6FF), (0x1F7E0, 0x1FAFF)),
    "ExtPict": ((0xA9, 0xA9), (0xAE, 0xAE), (0x203C, 0x203C), (0x2122, 0x2122), (0x2600, 0x27BF), (0x1F000, 0x1FAFF)),
    "EPres": ((0x231A, 0x231B), (0x2614, 0x2615), (0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F90C, 0x1F9FF)),
}  # fmt: skip

_BY_CATEGORY = {
    "Dash": "Pd", "Math": "Sm", "Gr_Ext": "Mn", "CI": "Mn", "Dia": "Mn", "Pat_Syn": "P", "STerm": "Po", "Term": "Po",
    "QMark": "Po", "Bidi_M": "Ps", "Ext": "Lm", "Ideo": "Lo", "UIdeo": "Lo", "Radical": "So", "DI": "Cf",
    "Bidi_C": "Cf",
    "NChar": "Cn", "Dep": "Cf",
}  # fmt: skip
"""The category that holds most members of a property for which the standard library has no test."""

_BY_METHOD: dict[str, Callable[[str], bool]] = {
    "Lower": str.islower,
    "Upper": str.isupper,
    "Cased": lambda character: character.lower() != character.upper(),
    "CWL": lambda character: character.lower() != character,
    "CWU": lambda character: character.upper() != character,
    "CWT": lambda character: character.title() != character,
    "CWCF": lambda character: character.casefold() != character,
    "CWKCF": lambda character: character.casefold() != character,
    "CWCM": lambda character: character.lower() != character or character.upper() != character,
}


@cache
def _binary_set(name: str) -> CharSet:
    if name in _EXACT:
        return _EXACT[name]
    if name == "Assigned":
        return complement(_category_set("Cn"))
    if name in ("Alpha", "IDS", "XIDS"):
        return union(_category_set("L"), _category_set("Nl"))
    if name in ("IDC", "XIDC"):
        return union(*(_category_set(part) for part in ("L", "Nl", "Mn", "Mc", "Nd", "Pc")))
    if name == "Gr_Base":
        return complement(union(_category_set("C"), _category_set("M")))
    if name in _BY_METHOD:
        return _members(_BY_METHOD[name], _category_set("L"))
    return _category_set(_BY_CATEGORY.get(name, "So"))
