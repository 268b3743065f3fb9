"""How much of what people explain in passing is kept as they said it, and what is kept that nobody defined.

    FINEXPERT_LM=... python tests/lessons/measure.py --half held

The folder (this one) holds `lessons.yaml` (conversations with what must be kept: `keeps`, `not_kept`) and `ordinary.yaml` (conversations of which nothing
may be kept). Every message is listened to as a conversation does, all offers are kept, and nothing else is asked: no question is answered.
An entry counts as kept where its term is the one expected, its meaning holds the person's words to the letter and every part that it must
hold; of a convention, which has no name that a question uses, the words alone count.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from finexpert.core.answers import Clarification
from finexpert.knowledge.glossary import Keyword
from finexpert.language_models.roles import LanguageModels
from finexpert.session import Session
from finexpert.settings import Settings
from finexpert.text.terms import normalise

Conversation = Mapping[str, Any]


def listened(
    conversation: Conversation, models: LanguageModels, folder: Path
) -> tuple[list[list[Keyword]], list[Keyword], int]:
    """What was kept at each turn, what is kept in the end, and how many calls that took."""
    settings = Settings(store=str(folder / f"{conversation['id']}.sqlite"), embedder="words", by="measured")
    kept: list[list[Keyword]] = []
    with Session(pd.DataFrame({"value": [1.0]}), settings=settings, models=models) as session:
        for turn in conversation["turns"]:
            kept.append(_turn(session, turn["says"], turn.get("asked")))
        return kept, session.stores.glossary.keywords(), int(session.spent["calls"])


def _turn(session: Session, message: str, asked: str | None) -> list[Keyword]:
    if not asked:
        return [session.keep(offer) for offer in session.listen(message).offers]
    made = session.explain(Clarification(kind="term", term=asked, question="?"), message)
    return [made] if isinstance(made, Keyword) else []


def wrong_with(entry: Keyword, wanted: Mapping[str, Any]) -> str:
    """What an entry lacks of what it must be; empty where it is right."""
    names = {normalise(name) for name in (wanted["term"], *wanted.get("also", []))}
    if wanted["kind"] != "convention" and not names & set(entry.names):
        return f"the term is {entry.term!r}"
    if _line(wanted["verbatim"]) not in _line(entry.meaning):
        return f"not to the letter: {entry.meaning!r}"
    said = _line(entry.meaning).casefold()
    lost = [part for part in wanted["meaning_must"] if not any(str(each).casefold() in said for each in part)]
    return f"lost {lost}: {entry.meaning!r}" if lost else ""


def _line(text: str) -> str:
    return " ".join(str(text).split()).rstrip(".")


def lesson_report(
    conversation: Conversation, kept: Sequence[Sequence[Keyword]], final: Sequence[Keyword]
) -> tuple[list[str], int, int]:
    """What is wrong, how many were kept as said, and how many entries nobody gave."""
    problems, right = [], 0
    for wanted in conversation["keeps"]:
        faults = [wrong_with(entry, wanted) for entry in kept[wanted["turn"] - 1]] or ["missed"]
        if "" in faults:
            right += 1
        else:
            problems.append(f"turn {wanted['turn']}, {wanted['term']}: {'; '.join(faults)}")
    held = "\n".join(f"{entry.term}\n{entry.meaning}" for entry in final)
    back = [
        str(each)
        for each in conversation.get("not_kept", [])
        if re.search(rf"(?<!\w){re.escape(str(each))}(?!\w)", held)
    ]
    problems += [f"kept although taken back or not meant: {each!r}" for each in back]
    extra = max(0, sum(map(len, kept)) - len(conversation["keeps"]))
    problems += [f"{extra} more kept than were given: {[entry.term for entry in final]}"] if extra else []
    return problems, right, extra + len(back)


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    given.add_argument("--half", choices=("dev", "held"), help="only the entries that are marked so")
    given.add_argument("--threads", type=int, default=16, help="conversations side by side")
    options = given.parse_args()
    models = LanguageModels.from_settings(Settings())
    sets = {
        name: [
            each
            for each in yaml.safe_load((options.folder / f"{name}.yaml").read_text("utf-8"))
            if options.half in (None, each.get("half"))
        ]
        for name in ("lessons", "ordinary")
    }
    right = false = calls = ordinary_calls = ordinary_false = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.threads) as pool:
        # In the threads of the pool each conversation is one after the other, and conversations are side by side.
        heard = {
            name: list(pool.map(lambda each: listened(each, models, Path(folder)), conversations))
            for name, conversations in sets.items()
        }
    for conversation, (kept, final, asked) in zip(sets["lessons"], heard["lessons"], strict=True):
        problems, found, wrong = lesson_report(conversation, kept, final)
        right, false, calls = right + found, false + wrong, calls + asked
        print("\n".join([f"{conversation['id']}: {'ok' if not problems else ''}", *(f"  {each}" for each in problems)]))
    for conversation, (_, final, asked) in zip(sets["ordinary"], heard["ordinary"], strict=True):
        ordinary_calls, ordinary_false = ordinary_calls + asked, ordinary_false + bool(final)
        for entry in final:
            print(f"{conversation['id']} ({conversation.get('kind')}): kept {entry.term!r} = {entry.meaning!r}")
    wanted = sum(len(each["keeps"]) for each in sets["lessons"])
    print(f"\nkept as said: {right} of {wanted}; kept and not meant: {false}; calls: {calls}")
    print(
        f"ordinary conversations of which something was kept: {ordinary_false} of {len(sets['ordinary'])}; calls: {ordinary_calls}"
    )


if __name__ == "__main__":
    main()
