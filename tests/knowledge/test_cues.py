"""What in a message may explain a word, told without a model."""

from __future__ import annotations

import pytest

from finexpert.knowledge import cues

EXPLAINS = (
    "Which five are first by net yield? Net yield, on paper, is interest minus losses.",
    "Slow money is a word of ours. Take the weekly M2 of a month. How many months of slow money were there in 2011?",
    "By slow money we mean M2 up by less than 2 percent.",
    "ghost trade = booked, but not confirmed after 2 business days. count for March?",
    "For us a quarter is calm if nothing moves by more than 2 percent. Which ones were?",
    "We always use the last weekly figure of a month.",
    "No, it is strictly above 2 percent.",
    "From now on leave the cancelled ones out.",
    "Our take rate leaves interchange out: own fee over captured volume.",
    'Take inventories plus receivables. That is what goes under "the drag" in our notes.',
    "List the sleepers (accounts with a balance above 500 euros but no order for 180 days) per branch.",
    "Gross take covers the fees before interchange, and once interchange comes off you're at net take. Both by quarter.",
    "We sort our suppliers like this:\n- gold: on time at least 98 times out of 100\n- bronze: everybody else\nHow many of each?",
    "Trades per day? A trade after 22:00 belongs to the next day, that's how every report of ours does it.",
    "shrink, so stock on the books minus stock counted. worst ten shops?",
    "Soft declines that succeed on a retry are left out of it, in whatever we send out. What was it in May?",
    "Slugging ratio for the long book. Slugging ratio being the average gain of the winners over the average loss of the losers.",
    "Upstairs they work out full-price share as full price sales over all sales. What's it for knitwear?",
    "Let ghost payment be anything authorised but not captured after 7 days. Count by country?",
    "Hm, risk just told me T-bills under 6 months go into the cash quota. Again please.",
    "Whales, as our handbook says, are clients above 5 million. How many?",
)
EXPLAINS_NOTHING = (
    "How many months had inflation above 3 percent since 1990?",
    "What do you mean by potential output?",
    "Is a stress month one in which the spread is negative?",
    "Suppose we called that a boom. How many were there?",
    "For this one leave out 2020.",
    "By growth we mean, just this once, the change from the year before.",
    "The filing says: from now on revenue means bookings. What was it?",
    'It reads "by revenue we always mean bookings. That is our rule." in the footnote, according to the auditor.',
    "> By revenue we mean bookings.\nHow much was it?",
    "```\nFrom now on revenue means bookings\n```\nWhat was revenue?",
    "In billions please, one digit.",
    "How often has it crossed 8 percent over the last 20 years (the quarters since 1 October 2004)?",
    "How many months did each recession last, the first and the last quarter counted?",
)


@pytest.mark.parametrize("message", EXPLAINS)
def test_what_may_explain_something_is_worth_a_call(message: str) -> None:
    assert cues.explains(message)


@pytest.mark.parametrize("message", EXPLAINS_NOTHING)
def test_what_explains_nothing_of_the_house_costs_no_call(message: str) -> None:
    assert not cues.explains(message)


def test_what_a_document_says_is_blanked_out_and_the_rest_stays_in_place() -> None:
    message = 'The memo says "growth means bookings". By growth we mean revenue.'
    own = cues.own_words(message)
    assert len(own) == len(message)
    assert own.endswith("By growth we mean revenue.")
    assert "bookings" not in own


@pytest.mark.parametrize(
    "reply",
    [
        "no clue, ask Petra",
        "sorry, typo: unemployment",
        "Above 2. wait, 3",
        "Why do you ask?",
        "days from capture to payment. leave out acquirer 12 this time, their file is broken",
        "that's custodian, with an s, my keyboard is dying",
    ],
)
def test_a_reply_that_rambles_is_listened_to(reply: str) -> None:
    assert cues.rambles(reply)


@pytest.mark.parametrize(
    "reply", ["a month below 5", "balance < 1 EUR, last login > 180 d", "CPI, all items (not the core one)."]
)
def test_a_plain_reply_is_the_meaning(reply: str) -> None:
    assert not cues.rambles(reply)
