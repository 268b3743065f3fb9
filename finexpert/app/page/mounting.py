"""Puts the page into an application."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from finexpert.app.desk import Desk
from finexpert.app.page.answers import Answers
from finexpert.app.page.evaluations import Evaluations
from finexpert.app.page.feedback import FeedbackPages
from finexpert.app.page.knowledge import Knowledge
from finexpert.app.page.meaning import MeaningPages
from finexpert.app.page.sources import SourcePages
from finexpert.app.page.talks import Talks
from finexpert.app.page.templating import STATIC

GROUPS = (Talks, Answers, Knowledge, FeedbackPages, SourcePages, MeaningPages, Evaluations)


def mount(app: FastAPI, desk: Desk) -> None:
    """Add every page and what pages are made of."""
    app.state.pages = {group: group(desk) for group in GROUPS}
    for group in GROUPS:
        app.include_router(group.router())
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
