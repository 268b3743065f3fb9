"""Cues: whether a message may explain what a word means here, looked at without a model.

    explains("Slow money is a word of ours: M2 up by less than 2 percent.")  ->  True
    explains("How many months had inflation above 3%?")                      ->  False

A cue says no more than that it is worth a call. What a document says, what is only supposed, and what is asked is nobody's
definition: `own_words` blanks it out, so that it can be neither a cue nor the words of a definition.
"""

from __future__ import annotations

import re
from collections.abc import Sequence


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_OFTEN = "all|always|usually|just|also|mostly|simply|only|never|do not|don't|all of us"
_DO = (
    "call|mean|meant|define|say|speak of|refer|treat|count|consider|understand|regard|label|take|use|report|measure|compute|calculate|"
    "exclude|include|leave|drop|ignore|read|book|quote|sort|group|class|classify|rank|grade|split|bucket|work out|put"
)

# What says that the person speaks for their house.
_STRONG = (
    r"\b(?:is|are|was|it's|that's) (?:also )?(?:an? |our |my |the |just |only )*(?:own )?(?:house |desk |in-house )?(?:word|term|expression|name|nickname|shorthand|jargon|label|slang)s?\b",
    r"\bby\b[^.?!]{1,60}\b(?:we|i|us|people here|the desk|everyone here)\b[^.?!]{0,20}\bmeans?\b",
    rf"\b(?:we|i)(?:'ll| will| would)? (?:{_OFTEN} )*(?:{_DO})\b",
    r"\b(?:for|with|at|in|among|around) (?:us|here|ours?\b[\w ]{0,20}|(?:this|the) (?:desk|house|team|shop|firm|bank|company))\b",
    r"\bour\b[^.?!]{1,80}?\b(?:is|are|means?|counts?|starts?|runs?|ends?|begins?|goes|=)\b",
    r"\b(?:of ours|(?:that's|that is|this is) (?:just )?how (?:we|our|every|all|it is done|things are done)\b|(?:in|for|on) (?:whatever|everything|all|anything) (?:that )?we\b)",
    r"\b(?:from now on|going forward|henceforth|by convention|our convention|house rule|rule (?:here|of (?:our|the|this))|as always|in-house|around here)\b",
)
_WEAK = (
    r"\b(?:means|meaning|refers? to|stands? for|short for|defined as|definition|counts? as|known as|called|call it|calls? (?:it|this|that)|i\.e\.|aka)\b",
    r"\b(?:always|never|convention|remember|keep in mind|bear in mind|note that|for the record|fyi|please note|as a rule|by default)\b",
    r"(?:^|[.!?;,\u2014(-]\s*)(?:no|nope|nah|sorry|wait|actually|correction|wrong|not quite|scratch that|strike that|i misspoke|hold on|hmm|rather|instead)\b[,:. \u2014-]",
    r"\b(?:not (?:right|correct|what)|should be|must be|has to be|i said|i told|i was wrong|instead of|got (?:it|that) wrong|that's wrong|changed our mind|in fact)\b",
    r"(?:^|[.;\n])\s*(?:[-*\u2022] ?)?[\w'/&-]{2,30}(?: [\w'/&-]+){0,4}\s*(?:=|:=|->|\u2192|:(?! ?(?:by|how|what|which|when|where|who|did|is|are|in|please)\b))\s*[a-z(\d<>]",
    r"\bour (?:[\w'-]+ ){1,3}(?:leaves?|takes?|includes?|excludes?|uses?|covers?|rests?|adds?|needs?|holds?|follows?|looks?)\b",
    r"\b(?:in other words|namely|goes (?:under|by)|by which|forget (?:that|what|about)|(?:moved|switched|changed|went over) to|used to|can't be|cannot be)\b",
    r"\b(?:no longer|not any ?more|since then|these days|nowadays|one more thing|before we start|whenever (?:i|we)|when (?:i|we) (?:write|say|ask|talk))\b",
    r"\b(?:treat|read|count|book|understand|take|see|label|regard|define|compute|calculate|measure|figure|work)(?:s|d|ed)?(?: out)? [^.?!]{1,60} as\b",
    # A name with its meaning beside it: in brackets, behind a comma, after "being".
    r"\b[\w-]{3,30} \((?!(?:in|e\.g|for example|see|about|since|from|until|till|each|both|as of|including|the (?:quarter|month|year|day|week)s?)\b)[^()\n]*\w+(?:\W+\w+){4,}[^()\n]*\)",
    r"(?:^|[.!?\n]\s*)[\w'/&-]{2,30}(?: [\w'/&-]+){0,3}, (?:so|that is|meaning|or rather|as in|in short) (?!far\b|that\b|what\b|how\b|why\b)",
    r"\bbeing (?:the|an?|all|what|any|those|everything)\b",
    r"\blet [\w' -]{2,40} be\b",
    r"\b(?:covers?|comprises?|consists? of|amounts? to|equals|adds? up to|(?:goes?|falls?|counts?) (?:into|under|towards?))\b(?=[^?]*(?:[.;!]|$))",
    r"\b(?:vocabulary|terminology|wording|lingo|to be (?:clear|precise|exact)|told me|that's what|you(?:'re| are) at)\b",
    r"[\"\u201c'\u2018][\w &/-]{2,40}[\"\u201d'\u2019],? (?:is|are|means?|=|here)",
    # A sentence that states something, and asks nothing.
    r"(?:^|[.!?;:\n]\s*)(?!(?:it|this|that|there|here|they|he|she|i)\b)[^.?!,:;\n]{2,60}?(?:,[^.?!,:;\n]{1,30},)?\s(?:is|are)\s(?!there\b)[^?\n]*?(?:[.!;](?:\s|$)|$)",
)
_STRONG_CUE, _CUE = _any(*_STRONG), _any(*_STRONG, *_WEAK)

# A supposition, or something that holds for one answer.
_SUPPOSED = (
    r"\b(?:suppose|supposing|imagine|hypothetically|pretend|what if|let's (?:say|assume|pretend|call)|assuming|if we (?:called|defined|said|named|were|treated|used)|"
    r"(?:could|might|would|should|can|may) (?:we |you |one |i )?(?:also )?(?:call|define|say|name)|if [\w ]{2,40} (?:is|are|was|were) (?:simply|just|only)|counting as|let (?:an?|the) [\w ]{2,40} be)\b"
)
_ONCE = (
    r"\b(?:for (?:this|the) (?:one|question|answer|time|table|chart|query|request|report|exercise)\b(?: only| alone)?|(?:just|only) (?:this once|(?:for )?(?:now|today|this time|this one))|this (?:once|time)|"
    r"in this sense|for now|for today)\b"
    r"|^\W*(?:here|in this question)\b"
)
_SUPPOSED_ONLY, _ONCE_ONLY = _any(_SUPPOSED), _any(_ONCE)
# A word put right, which defines nothing.
_TYPO = re.compile(
    r"\b(?:typos?|misspel\w+|mistyped|keyboard|autocorrect(?:ed)?|spell(?:ed|ing)?|spelt)\b", re.IGNORECASE
)
_ASKS = re.compile(
    r"^\W*(?:(?:so|and|but|ok|okay|well|hm+|sorry)\W+)*(?:is|are|was|were|does|do|did|can|could|should|would|what|which|why|how come|who|where|isn't|aren't)\b.*\?\W*$",
    re.IGNORECASE | re.DOTALL,
)

_DOCUMENT = (
    r"(?:article|filing|report|paper|text|page|foot ?note|note|e-?mail|memo|document|column|cell|row|table|field|comment|description|database|data|newspaper|10-?[kq]|prospectus|"
    r"press release|website|wiki(?:pedia)?|blog|post|analysts?|journalists?|author|vendor|textbook|slide|deck|tool|result|output|pdf|letter|transcript)"
)
_SAYS = r"(?:says?|said|reads?|writes?|wrote|calls?|called|defines?|defined|states?|stated|claims?|claimed|tells?|told|goes|contains?|mentions?|insists?)"
_QUOTE = r"[\"\u201c\u00ab]"
# What the house itself wrote down is its own: "our handbook says".
_REPORTED = re.compile(
    rf"(?<!\bour )\b(?:{_DOCUMENT}\b[^.?!\n]{{0,40}}\b{_SAYS}\b|{_SAYS} (?:in|on) (?:the|a|their|its) {_DOCUMENT}\b|(?:it|that's what it) (?:says|reads) (?:in|on|there)\b"
    rf"|according to (?!us\b|our\b)|(?:quoting|quoted|copied|pasted) from\b)",
    re.IGNORECASE,
)
# All that follows a colon, or a quotation of any length, behind such words.
_REPORTED_LONG = re.compile(
    rf"(?:{_REPORTED.pattern})[^\n.?!:\"\u201c\u00ab]{{0,40}}(?:{_QUOTE}[^\"\u201d\u00bb]*[\"\u201d\u00bb]|:(?:(?!\n\s*\n).)*)",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = r"[\"\u201c\u00ab][^\"\u201d\u00bb]*[\"\u201d\u00bb]"
# A quotation of whoever it is, said before it or behind.
_QUOTED_BY = re.compile(
    rf"\b(?:it|they|he|she|who|which|there)\b[^.\n]{{0,20}}\b{_SAYS}\b[^.\n\"\u201c\u00ab]{{0,20}}{_QUOTED}"
    rf"|{_QUOTED}[^.\n]{{0,30}}(?:\b(?:it|they|he|she|that's what) {_SAYS}\b|\b{_SAYS} the\b|\baccording to\b|\bin the {_DOCUMENT}\b)",
    re.IGNORECASE,
)
_BLOCKS = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>.*$|<[a-z_]+>.*?</[a-z_]+>", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_RAMBLES = re.compile(
    r"\?|\.\.\.|\u2026|\b(?:no (?:clue|idea)|don't (?:know|care|remember)|dunno|ask \w+|typo|sorry|never ?mind|forget|wait|argh|oops|hmm+|not sure|i (?:mean|meant|think|guess)|"
    r"actually|other way|haha|skip|whatever|nothing|thanks|please|no,|well,|hang on|hold on|scratch|strike|rather|"
    r"this (?:time|once)|for (?:now|today|once)|keyboard|autocorrect|spell(?:ed|ing)?|spelt)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.?!\n]+(?:[.?!](?!\s|$)[^.?!\n]*)*[.?!]*")


def explains(message: str, asked: bool = False) -> bool:
    """Whether a message holds a cue; one that replies to a question about a term needs none.

    >>> explains("No, it is strictly above 2 percent."), explains("Suppose we called that a boom."), explains("GDP fell?")
    (True, False, False)
    """
    own = own_words(message)
    return bool(own.strip()) and (asked or _CUE.search(own) is not None)


def rambles(reply: str) -> bool:
    """Whether a reply to a question back says more, or less, than what the term means.

    >>> rambles("a month in which the spread is below 0.5"), rambles("no clue, ask Petra"), rambles("sorry, typo: spread")
    (False, True, True)
    """
    return _RAMBLES.search(reply) is not None or len(_SENTENCE.findall(reply)) > 3


def once_only(question: str) -> bool:
    """Whether a question explains a word of its own, for itself alone: what is kept under that word may not be meant.

    >>> once_only("Let a calm quarter here be one with ..."), once_only("How many calm quarters were there?")
    (True, False)
    """
    return any(pattern.search(question) for pattern in (_CUE, _SUPPOSED_ONLY, _ONCE_ONLY))


def own_words(message: str) -> str:
    r"""The message with blanks, one a character, in place of what the person does not say for themselves.

    >>> own_words("The filing says: from now on revenue means bookings.").split()
    ['The']
    >>> own_words("By slow we mean \"below 2 percent\".").strip()
    'By slow we mean "below 2 percent".'
    """
    for pattern in (_BLOCKS, _REPORTED_LONG, _QUOTED_BY):
        message = pattern.sub(_blank, message)
    return _SENTENCE.sub(lambda sentence: sentence[0] if _is_own(sentence[0]) else _blank(sentence), message)


def without_sentences(text: str, pieces: Sequence[str]) -> str:
    """The text without the sentences that hold a part of one of the pieces.

    >>> without_sentences("Slow is our word: below 2. Or so. How many?", ["below 2. Or so"])
    ' How many?'
    """
    held = [(start, start + len(piece)) for piece in pieces if piece and (start := text.find(piece)) >= 0]

    def kept(sentence: re.Match[str]) -> str:
        return "" if any(a < sentence.end() and sentence.start() < b for a, b in held) else sentence[0]

    return _SENTENCE.sub(kept, text)


def _is_own(sentence: str) -> bool:
    if any(pattern.search(sentence) for pattern in (_REPORTED, _SUPPOSED_ONLY, _ONCE_ONLY, _TYPO)):
        return False
    return _STRONG_CUE.search(sentence) is not None or not _ASKS.search(sentence)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
