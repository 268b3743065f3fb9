"""Which examples a compile or an evaluation takes: the packaged sets, files of the user's own beside them, or these alone.

    sets = ExampleSets.of(["planning=mine.jsonl"], only=False, copies=Copies(data=Path("desk.duckdb")))
    sets.load("planning", "train")            # the packaged ones and those of mine.jsonl
    sets.fingerprint("planning")              # another one for another line, other rows in desk.duckdb, or only=True

A file is read once, so that an edit while a compile is under way changes nothing in it. Whether its references run is
not looked at here: that takes a sandbox (`references.problems_of`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from finexpert.datasets.layers import examples as layer_examples
from finexpert.datasets.layers.copies import Copies
from finexpert.datasets.layers.examples import LayerExample
from finexpert.datasets.layers.records import FilingExample, Split, WarehouseExample
from finexpert.errors import ConfigurationError, QueryError, QuestionFileError


@dataclass
class ExampleSets:
    """Files of the user's own by layer; with `only` they take the place of the packaged set of their layer.

    >>> sets = ExampleSets()
    >>> len(sets.load("planning", "val")) == len(layer_examples.load("planning", "val"))
    True
    >>> sets.fingerprint("planning") == layer_examples.fingerprint("planning")
    True
    """

    files: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    only: bool = False
    copies: Copies = field(default_factory=Copies)
    _read: dict[str, list[LayerExample]] = field(default_factory=dict, repr=False)
    _own: dict[str, list[LayerExample]] = field(default_factory=dict, repr=False)
    _fingerprints: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, given: Sequence[str], *, only: bool = False, copies: Copies | None = None) -> ExampleSets:
        """The sets that options of the form LAYER=FILE name; ConfigurationError says what is wrong with one.

        >>> ExampleSets.of(["mine.jsonl"])
        Traceback (most recent call last):
        finexpert.errors.ConfigurationError: --examples 'mine.jsonl' is not LAYER=FILE; write --examples planning=mine.jsonl
        """
        files: dict[str, list[Path]] = {}
        for option in given:
            layer, equals, name = option.partition("=")
            if not equals or not layer or not name:
                raise ConfigurationError(
                    f"--examples {option!r} is not LAYER=FILE; write --examples planning={name or option or 'mine.jsonl'}"
                )
            layer_examples.kind_of(layer)
            if not Path(name).is_file():
                raise ConfigurationError(
                    f"--examples {option}: there is no file {name}; write one, as `finexpert examples check {layer} "
                    f"--file {name}` reads it"
                )
            files.setdefault(layer, []).append(Path(name))
        if only and not files:
            raise ConfigurationError("--only-own leaves no example: name a file with --examples LAYER=FILE")
        return cls(files, only, copies or Copies())

    def load(self, layer: str, split: Split | None = None) -> list[LayerExample]:
        """The examples of a layer, of one split or all. QuestionFileError names a wrong line, or what two files share."""
        if layer not in self._read:
            self._read[layer] = self._all(layer)
        return [example for example in self._read[layer] if split in (None, example.split)]

    def _all(self, layer: str) -> list[LayerExample]:
        if not self.files.get(layer):
            return layer_examples.load(layer, copies=self.copies)
        found: list[LayerExample] = []
        problems: list[layer_examples.Problem] = []
        for path in self._paths(layer):
            examples, wrong = layer_examples.read_lines(layer, path, copies=self.copies)
            found += examples
            problems += wrong
            if path is not None:
                self._own.setdefault(layer, []).extend(examples)
        problems += layer_examples.problems_of_the_set(layer, found)
        if problems:
            more = f" ({len(problems)} problems in all)" if len(problems) > 1 else ""
            raise QuestionFileError(f"{problems[0].place}: {problems[0].message}{more}")
        return found

    def _paths(self, layer: str) -> list[Path | None]:
        own = self.files.get(layer, ())
        return [*own] if own and self.only else [None, *own]

    def own(self, layer: str) -> list[LayerExample]:
        """The examples of the user's own."""
        self.load(layer)
        return list(self._own.get(layer, ()))

    def need(self, layer: str, splits: Iterable[Split]) -> None:
        """QuestionFileError where there is no example of one of these splits."""
        for split in splits:
            if not self.load(layer, split):
                names = " and ".join(str(path) for path in self.files.get(layer, ()))
                raise QuestionFileError(
                    f"{names or layer}: no example of {layer} is in {split}: give some lines the split {split}, or leave "
                    f"--only-own out to have the packaged ones too"
                )

    def fingerprint(self, layer: str) -> str:
        """A hash of the examples and of what their right answers follow from; of own ones, the frames that they fetch."""
        if not self.files.get(layer):
            return layer_examples.fingerprint(layer)
        if layer not in self._fingerprints:
            files = [layer_examples.fingerprint(layer, path) for path in self._paths(layer)]
            texts = [f"only {self.only}", *files, *self._beside(layer)]
            self._fingerprints[layer] = hashlib.sha256("\0".join(texts).encode()).hexdigest()
        return self._fingerprints[layer]

    def _beside(self, layer: str) -> list[str]:
        own = self.own(layer)
        pages = [
            f"{each.model_dump_json()} {each.filing.page_text()}" for each in own if isinstance(each, FilingExample)
        ]
        asked = [each for each in own if isinstance(each, WarehouseExample) and each.is_own]
        return [*pages, *(print_ for each in asked for print_ in _frames(each))]

    def words(self, layer: str) -> dict[str, int]:
        """How many examples are the user's own and how many packaged; nothing where all are packaged."""
        own = len(self.own(layer))
        return {"own_examples": own, "packaged_examples": len(self.load(layer)) - own} if own else {}


def _frames(example: WarehouseExample) -> list[str]:
    """The hashes of the frames of an example; its SELECTs where they do not run, which the check of the example says."""
    # It asks for copies of the warehouses, which are made here.
    from finexpert.datasets.layers.references import frames_of

    try:
        return [frame.fingerprint for frame in frames_of(example)]
    except QueryError:
        return [frame.select for frame in example.frames]
