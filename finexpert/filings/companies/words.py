"""Which words do not name a company by themselves: legal forms, ordinary words, abbreviations that look like symbols.

    "target", "apple" and "key" are ordinary; "IT", "ALL" and "CF" are symbols and abbreviations

An ordinary word names its company only where something says so: a capital in the middle of a sentence, "'s" after it,
a legal form behind it. A look-alike of a symbol names it after "ticker", as "$ALL" or with "'s".
"""

from __future__ import annotations

# What may end a name without belonging to it.
_LEGAL_FORMS = """
ag bancorp co companies company corp corporation group holding holdings inc incorporated limited llc lp ltd nv
plc sa se the
"""
LEGAL_FORMS = frozenset(_LEGAL_FORMS.split())

# Names of companies, whole or shortened, that are words of English or of finance.
_ORDINARY = """
a advance air align allegiance alliance alliant allied alpha altitude american analog apple applied arch archer
arthur atmos automatic axon baker ball bank berkeley best block booking boston bristol broad brown builders
camden capital cardinal carnival carrier casey castle central charles charter chemical church cincinnati
citizens city coach coke colgate columbia consolidated constellation cooper corning cosmos crown delta devon
diamond digital discover discovery dollar dominion domino dover dow duke eastman eaton edison edwards electronic
eli emerson energy enterprise equity essex everest expand extra fair federal fidelity fifth first ford fortune
fox franklin freeport gap gen general genuine global globe gold green hartford henry hess holly home host house
hub hunt illinois imperial independent industries insight instruments international invitation iron jack jacobs
jb john johnson key keys kraft lamb las levi liberty life live loew lowe lucid m marathon market marsh martin
match mccormick meta mid mohawk monster mosaic motion motor nasdaq national news next norfolk northern norwegian
old on oracle otis pacific packaging paramount parker phillips pinnacle pioneer pool post power principal
procter progressive prudential public pulse quest ralph range raymond realty regency regions republic resources
rockwell roper ross royal school sealed select sherwin simon snap southern southwest square stanley staples star
state steel summit sun sunrise super supply t tapestry target teach texas tractor trade travelers tyler under
union united universal us vertex victoria visa vista vulcan walt warner waste waters wells west western williams
willis yum zebra
"""
ORDINARY = frozenset(_ORDINARY.split())

# Names that count in a text that is written without any capital, though one would expect theirs.
_NAMES_WITHOUT_CAPITALS = """
chubb devon eaton emerson hershey humana oracle visa
"""
NAMES_WITHOUT_CAPITALS = frozenset(_NAMES_WITHOUT_CAPITALS.split())

# Symbols that are also words, units, abbreviations or roman numerals.
_LOOK_ALIKES = """
A AI ALL AM AME AMP AN ARE AT BALL BE BEN BR BY CASH CAT CE CEO CF CFO CI CL CMS COO COR COST CPA CPI DAY DD DE
DEC DO DOC EA ED EL EPS ES EU EX EXE FAST FE FI FIG FORM FOX FY GAAP GDP GEN GL GO HAS HE HR ICE IF II III IN IP
IR IRS IS IT ITEM IV IX JAN KEY KEYS LEN LIBOR LLC LOW MA MAR MD MET MS MY NET NI NO NOL NOTE NOW OCI OF OK ON
OPEB OR PA PAGE PART PBO PE PEG PH PLC PM POOL PPL PSA PTC RE REG REIT ROA ROE ROI ROL ROP RSU SAFE SEC SEE SO
SPG ST STE SUM TABLE TAP TAX TECH TEL TO TT UA UK UP US USA USD VAT VI VIE VII WE WELL WEST XI YEAR
"""
LOOK_ALIKES = frozenset(_LOOK_ALIKES.split())
