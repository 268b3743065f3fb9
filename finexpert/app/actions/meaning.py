"""The semantic model of a source: read, edited, tried before it is used, taken back, with its history.

model = desk.model(owner, source)
desk.edit_model(owner, source, model.text.replace("fees", "fees before tax"), model.version)
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import yaml

from finexpert.app.actions.places import Place
from finexpert.app.actions.sources import Sources
from finexpert.app.opened import open_place
from finexpert.app.people.people import Person
from finexpert.app.state import tables
from finexpert.app.state.naming import now
from finexpert.app.state.stored import ModelText
from finexpert.errors import ConfigurationError, DataError, Forbidden, NotFound, Refused, StaleEntry
from finexpert.filings.library.library import Library
from finexpert.storage.private_files import make_folder, write_whole
from finexpert.warehouse.semantic_model.checking import check
from finexpert.warehouse.semantic_model.document import VERSION, load, plain
from finexpert.warehouse.semantic_model.drafting import draft

_LONGEST = 500_000
_MOST_PROBLEMS = 5


class Meaning(Sources):
    """What the tables of a source mean. To read it needs the right to read, to change it the right to manage, of the server's own team where all ask it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Between looking which version there is and writing the next, nobody else writes one.
        self._changing = threading.RLock()

    def model(self, person: Person, source: str) -> ModelText:
        """The model as it is; a first draft from the catalogue, of version 0, where there is none."""
        person.need("read")
        target = self._model_file(self._place(person, source))
        last = next(iter(self.model_history(person, source)), None)
        if not target.is_file():
            with self.warehouse(person, source) as warehouse:
                return ModelText(source=source, version=0, text=_yaml(plain(draft(warehouse.tables, warehouse.name))))
        text = target.read_text()
        # A file that was changed beside the server has no author here.
        if last is not None and last.text == text:
            return last
        return ModelText(source=source, version=last.version if last else 0, text=text)

    def model_history(self, person: Person, source: str) -> list[ModelText]:
        """What was kept, the newest first."""
        person.need("read")
        self._place(person, source)
        c = tables.models.c
        rows = self.state.rows(sa.select(tables.models).where(c.source == source).order_by(c.version.desc()))
        return [ModelText.model_validate(dict(row)) for row in rows]

    def edit_model(self, person: Person, source: str, text: str, version: int, action: str = "edit") -> ModelText:
        """Keep a new text, after its names, metrics and verified queries were tried on the data.

        Refused says what does not fit; StaleEntry that somebody else was faster.
        """
        self._need_manage(person, source)
        place = self._place(person, source)
        if not text.strip() or len(text) > _LONGEST:
            raise Refused(f"a semantic model has 1 to {_LONGEST:,} characters")
        with self._changing:
            if (now_is := self.model(person, source).version) != version:
                raise StaleEntry(
                    f"the model was changed since you opened it: it is version {now_is}, and yours {version}"
                )
            self._try(place, text)
            self._keep_before(person, place)
            write_whole(self._model_file(place), text)
            return self._kept(person, place, text, action)

    def revert_model(self, person: Person, source: str, version: int) -> ModelText:
        """Make an old text the current one; it is tried as any other."""
        old = next((each for each in self.model_history(person, source) if each.version == version), None)
        if old is None:
            raise NotFound(f"the model has no version {version}")
        known = self.model(person, source).version
        return self.edit_model(person, source, old.text, known, f"go back to {version}")

    def publish(self, person: Person, source: str, column: str, on: bool = True) -> list[str]:
        self._need_manage(person, source)
        place = self._place(person, source)
        with self._changing:
            self._keep_before(person, place)
            values = super().publish(person, source, column, on)
            text = self._model_file(place).read_text()
            self._kept(person, place, text, f"{'publish' if on else 'hide'} {column}")
            return values

    def _need_manage(self, person: Person, source: str) -> None:
        """Raise Forbidden where a person may not say what a source means: one that every team asks belongs to the server's own."""
        person.need("manage")
        if source in self.given and not self.options.is_local and person.team != self.options.team:
            raise Forbidden(
                f"every team asks this source: an owner of the team {self.options.team!r} says what it means"
            )

    def _model_file(self, place: Place) -> Path:
        return place.model or self._model_place(place)

    def _try(self, place: Place, text: str) -> None:
        """Open the source with the text as its model, and run what stands in it."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "edited.model.yaml"
            file.write_text(text)
            try:
                model = load(file)
                opened = open_place(place.info.kind, place.address, self._opening_settings(file))
                if isinstance(opened, Library):
                    raise Refused("a library of filings has no semantic model")
                try:
                    problems, _ = check(model, opened)
                finally:
                    opened.close()
            except (ConfigurationError, DataError) as error:
                raise Refused(f"this model does not fit: {str(error).replace(str(file), 'it')}") from error
        if problems:
            raise Refused(f"this model does not fit: {'; '.join(problems[:_MOST_PROBLEMS])}")

    def _keep_before(self, person: Person, place: Place) -> None:
        """Keep a model that was there before the first change at a desk, so that it can be taken back."""
        target = self._model_file(place)
        make_folder(target.parent)
        if target.is_file() and not self.model_history(person, place.info.id):
            self._kept(person, place, target.read_text(), "as it was")

    def _kept(self, person: Person, place: Place, text: str, action: str) -> ModelText:
        source, c = place.info.id, tables.models.c
        with self.state.writing() as connection:
            last = connection.scalar(sa.select(sa.func.max(c.version)).where(c.source == source))
            row = {"source": source, "version": (last or 0) + 1, "at": now(), "by": person.name, "action": action,
                   "text": text}  # fmt: skip
            connection.execute(tables.models.insert().values(row))
            revision = tables.sources.c.revision
            connection.execute(
                tables.sources.update().where(tables.sources.c.id == source).values(revision=revision + 1)
            )
            self.log(connection, person, "change model", source, action)
        return ModelText.model_validate(row)


def _yaml(model: object) -> str:
    content = {"version": VERSION, "semantic_model": [model]}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
