"""The words by which two questions are compared: what says nothing, what says the same, and what must keep its place.

    jobless rate, unemployment rate -> unemployment        begin, began -> start        please, tell me -> (nothing)

Words that are not listed stand for themselves. A pair is listed only where no question could mean two things by it:
"sales" and "revenue", "growth" and "increase", "total" and "sum" are not. How the words are used stands in
`question_reading`.
"""

from __future__ import annotations

import re


def _same(lines: str) -> dict[str, str]:
    """Each word of a line, and the last one of its line.

    >>> _same("began begun start")
    {'began': 'start', 'begun': 'start'}
    """
    found: dict[str, str] = {}
    for line in lines.strip().splitlines():
        *others, kept = line.split()
        found |= dict.fromkeys(others, kept)
    return found


def _listed(words: str) -> list[str]:
    return words.split()


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Single words, in the singular.
SAME = _same(
    """
    begin began begun beginning beginnin started starting start
    ended ending finish finished end
    mean averaged average
    max maximum largest greatest biggest peak highest
    min minimum smallest lowest
    rose risen rising increase increased increasing climb climbed rise
    grew grown growing grow
    fell fallen falling decline declined declining drop dropped dropping decrease decreased decreasing fall
    changed changing change
    labour labor
    percentage pct percent
    usd dollar
    vs against versus
    streak run
    successive straight consecutive
    newest current currently now today latest
    correlated correlate correlation
    exceed exceeded exceeding above
    under below
    earlier before
    rounded rounding round
    yearly annually annual
    sold sell
    spent spending spend
    employed employ
    opened opening open
    closed close
    crossed cross
    added add
    earned earn
    paid pay
    made make
    bought buy
    invested invest
    contributed contribute
    lasted last
    minus less
    whom who which
    """
)

# Groups of words, in the singular and without articles; the longest that fits counts. Before SAME.
PHRASES = {
    "how often": "count time",
    "how many time": "count time",
    "number of time": "count time",
    "count how often": "count time",
    "count number of": "count",
    "number of": "count",
    "how many": "count",
    "by how much": "",
    "at its highest": "highest",
    "at its maximum": "highest",
    "at its peak": "highest",
    "at its lowest": "lowest",
    "at its minimum": "lowest",
    "by what percentage": "percent",
    "by what percent": "percent",
    "how much money": "",
    "how much": "",
    "how high": "",
    "how large": "",
    "how big": "",
    "how strong": "",
    "how strongly": "",
    "how long": "duration",
    "at most": "atmost",
    "no more than": "atmost",
    "at least": "atleast",
    "no less than": "atleast",
    "no fewer than": "atleast",
    "higher than": "above",
    "more than": "above",
    "greater than": "above",
    "larger than": "above",
    "lower than": "below",
    "less than": "below",
    "fewer than": "below",
    "smaller than": "below",
    "go up": "rise",
    "went up": "rise",
    "gone up": "rise",
    "go down": "fall",
    "went down": "fall",
    "gone down": "fall",
    "in a row": "consecutive",
    "in row": "consecutive",
    "most recent": "latest",
    "at present": "latest",
    "as of": "",
    "on what date": "when",
    "on which date": "when",
    "what date": "when",
    "which one": "which",
    "compared with": "versus",
    "compared to": "versus",
    "in comparison with": "versus",
    "that of": "",
    "what amount of": "",
    "amount to": "",
    "stand at": "",
    "stood at": "",
    "be at": "",
    "over all": "all",
    "round to nearest": "nearest",
    "rounded to nearest": "nearest",
    "to nearest": "nearest",
    "unemployment rate": "unemployment",
    "jobless rate": "unemployment",
    "rate of unemployment": "unemployment",
    "federal fund rate": "fedfunds",
    "fed fund rate": "fedfunds",
    "federal fund": "fedfunds",
    "fed fund": "fedfunds",
    "gross domestic product": "gdp",
    "consumer price index": "cpi",
    "break even": "breakeven",
    "per cent": "percent",
    "percentage point": "percentpoint",
    "percent point": "percentpoint",
    "pp": "percentpoint",
    "basis point": "basispoint",
    "bp": "basispoint",
    "bps": "basispoint",
    "us dollar": "dollar",
    "xxus dollar": "dollar",
    "compound annual growth rate": "cagr",
    "research and development": "rnd",
    "r and d": "rnd",
    "a year": "annual",
    "per year": "annual",
    "year over year": "yoy",
    "year on year": "yoy",
    "year before": "yearbefore",
    "year earlier": "yearbefore",
    "year ago": "yearago",
}

# What a question may begin with and that asks for nothing.
OPENINGS = re.compile(
    r"^\s*(?:(?:please|ok|okay|so|hi|hello)\b[\s,]*)*"
    r"(?:(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?(?:tell|give|show)\s+(?:me|us)(?:\s+please)?\b[\s:,]*"
    r"|(?:can|could|would|will)\s+you\s+(?:please\s+)?(?:say|compute|calculate|find)\b[\s:,]*"
    r"|i(?:'d| would)\s+like\s+to\s+know\b[\s:,]*|i\s+want\s+to\s+know\b[\s:,]*|do\s+you\s+know\b[\s:,]*"
    r"|(?:list|show|compute|calculate|find|determine|give|state)\b[\s:,]*)?",
    re.IGNORECASE,
)
ASKS_WHETHER = re.compile(
    r"^\s*(?:(is|are|does|do|has|have)|(was|were|did|had)|(can|could|will|would|should|may))\b", re.IGNORECASE
)
NAMES_ONE = re.compile(r"^\s*name\s+(?:the\s+)?", re.IGNORECASE)
# What a "what" before it asks to be chosen from several: "what month" is "which month", "what rate" is no choice.
CHOSEN = "month year quarter day week date calendar company plan country bank index indice series region sector state"

# Words that say nothing by themselves.
NOTHING = _set(
    "a an the of in on at for is are was were be been being am do does did done has have had there here me us we i you your our"
    " what will would please what's saw see seen record recorded report reported post posted occur occurred happen"
    " happened exist existed amount any kindly"
)

# Whatever stands on one side of these does not stand on the other: the order of all words counts.
ORDERED = _set(
    "than above below versus with less plus divide divided per to from and or not without except excluding including relative"
    " when while where if whose who after before until since by over share ratio atleast atmost later but outside within"
)

# These belong to the word behind them: the same must follow in both questions.
LEADING = _set(
    "count which real nominal net gross total core adjusted unadjusted average median first last latest second third"
    " change rise fall grow highest lowest longest shortest more fewer most least new"
)

# What is done with the data. Their own order counts; they name nothing that a question could be about.
OPERATIONS = _set(
    "count which when whether-is whether-was whether duration time average median sum total highest lowest longest shortest"
    " rise fall grow change difference share ratio percent percentpoint basispoint correlation rate first last latest"
    " start end annual annually monthly quarterly weekly daily month year quarter week day date value amount number figure"
    " higher lower more fewer larger smaller most least nearest round decimal cagr deviation standard variance"
)

UNITS = _set("percent percentpoint basispoint point dollar euro pound yen thousand million billion trillion")
SCALES = _set("thousand million billion trillion")
MEASURES = UNITS | _set("year month quarter week day time")
BEFORE_A_TIME = _set("before after until through by since within")
NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        _listed(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
            " eighteen nineteen twenty"
        )
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90"}
SIGNS = {
    "$": " dollar ", "\u20ac": " euro ", "\u00a3": " pound ", "\u00a5": " yen ", "%": " percent ", "&": " and ",
    ">=": " atleast ", "<=": " atmost ", ">": " above ", "<": " below ", "+": " plus ", "=": " equal ", "*": " times ",
    "/": " slash ", "\u2212": " minus ",
}  # fmt: skip
