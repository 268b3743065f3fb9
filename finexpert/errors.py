"""Every error that the library raises.

A question that cannot be answered is data: an `Answer` whose status says so.

    FinexpertError
    ├── ConfigurationError          a setting is missing or wrong
    ├── ModelError                  a language model cannot be used
    │   ├── ModelUnreachable        the endpoint refuses, hangs or keeps failing
    │   │   └── CircuitOpen         it failed so often that it is not asked for a while
    │   ├── UnknownPrompt           a recorded model is asked what was not recorded
    │   └── BudgetExceeded          the next call would pass the budget of this answer or run
    ├── Cancelled                   somebody cancelled the question under way
    ├── SandboxUnavailable          no boundary of the operating system can be set up: nothing is executed
    ├── SandboxFailure              the sandbox broke during a call (killed, protocol violated)
    ├── DataError                   a data file, folder or download is missing or unusable
    │   ├── RecordError             the record of an answer cannot be read or does not fit the data
    │   ├── QuestionFileError       a line of a question file does not have the documented form
    │   └── NotFetched              one file of a server is not there or too large: others may be fetched
    ├── StoreError                  the memory or the glossary cannot be opened, read or written
    │   ├── NotKept                 what is to be kept, or taken back, is nothing that can be
    │   ├── NameTaken               another entry has this heading or term already: a clash, which the expert decides
    │   ├── StaleEntry              an entry was changed by someone else since it was read
    │   ├── EmbedderMismatch        a store was made with another embedder; vectors are never mixed
    │   └── ProcessFileError        the file of a process does not have the documented form
    ├── LibraryError                a library of filings, or a file for it, cannot be opened, read or written
    ├── DeskError                   a server cannot do what a person asks of it
    │   ├── NotFound                it is not there, or it belongs to somebody else
    │   ├── Forbidden               the person's role or token does not allow it
    │   ├── Busy                    it is in use, and will be free later
    │   │   └── TooMany             so much is asked at once or in a minute that no more is taken
    │   ├── NotLoggedIn             nobody is known to ask
    │   └── Refused                 what was sent is not accepted
    ├── Unanswerable                the question has no answer in these sources, and no better plan mends that
    │   ├── NotInSources            a model that plans or mends says what they lack
    │   └── AsOfError               a table cannot be seen as of the day that was asked for
    └── StepError                   one step of a plan failed; its own layer may repair it
        ├── PlanError               the plan is malformed: unknown reference, cycle, wrong type
        ├── QueryError              a SELECT was refused or failed
        │   ├── UnknownValue        it compares a column with a text that the column does not hold
        │   ├── NoRows              its conditions leave no row
        │   └── CutFrame            it gives more rows than a frame may hold
        ├── ScriptError             a script was refused, failed or gave no usable answer
        ├── CellError               a table cell was not found, or several fit
        ├── QuoteError              the quoted words, or the value in them, do not stand in the page
        ├── SearchError             no page of the library answers a part of the question
        ├── OperationError          an operation does not apply to its arguments
        ├── AnswerFormatError       a value does not have the type that the answer must have
        └── OutputError             the model's text does not have the form that was asked for
"""

DOCTOR = "see `finexpert doctor`"


class FinexpertError(Exception):
    """Root of all errors raised by finexpert."""


class ConfigurationError(FinexpertError):
    """A setting is missing or wrong; the message names it and the value that was read."""


class ModelError(FinexpertError):
    """A language model cannot be used."""


class ModelUnreachable(ModelError):
    """The model's endpoint refuses, hangs or keeps failing."""


class CircuitOpen(ModelUnreachable):
    """The model's endpoint failed so often just now that it is not asked for a while; the message says how long."""


class UnknownPrompt(ModelError):
    """A recorded model was asked something that was not recorded."""


class BudgetExceeded(ModelError):
    """The next call would pass the budget set for this answer or this run."""


class Cancelled(FinexpertError):
    """Somebody cancelled the question under way; the conversation is as it was before it."""


class SandboxUnavailable(FinexpertError):
    """No boundary of the operating system could be set up, so no script is run."""


class SandboxFailure(FinexpertError):
    """The sandbox itself broke during a call; the script's result, if any, was thrown away."""

    kind = "sandbox"

    def __init__(self, message: str) -> None:
        super().__init__(message if DOCTOR in message else f"{message}; {DOCTOR}")


class DataError(FinexpertError):
    """A data file, folder or download is missing or unusable."""


class RecordError(DataError):
    """The record of an answer cannot be read, or does not fit the data at hand."""


class QuestionFileError(DataError):
    """A line of a question file does not have the documented form; the message names file and line."""


class NotFetched(DataError):
    """One file of a server is not there, or larger than a file may be; the server's other files may be fetched."""


class StoreError(FinexpertError):
    """The memory or the glossary cannot be opened, read or written; the message names the place."""


class NotKept(StoreError):
    """What somebody wants kept, or taken back, is nothing that can be; the message names it and why. The store itself works."""


class NameTaken(StoreError):
    """Another entry that is not retired has this name or alias already; `entry_id` is that entry."""

    def __init__(self, message: str, *, entry_id: str) -> None:
        super().__init__(message)
        self.entry_id = entry_id


class StaleEntry(StoreError):
    """An entry was changed by someone else between being read and being written."""


class EmbedderMismatch(StoreError):
    """A store holds vectors of another embedder than the one at hand."""


class ProcessFileError(StoreError):
    """The file of a process does not have the documented form; the message names file and line."""


class LibraryError(FinexpertError):
    """A library of filings, or a file that is added to one, cannot be opened, read or written; the message names it."""


class DeskError(FinexpertError):
    """A server cannot do what a person asks of it."""


class NotFound(DeskError):
    """It is not there, or it belongs to somebody else: the message is the same for both."""


class Forbidden(DeskError):
    """The role of the person, or the scope of the token, does not allow it."""


class Busy(DeskError):
    """It is in use now; `seconds` is when to try again."""

    def __init__(self, message: str, *, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class TooMany(Busy):
    """So much is asked at once, or in a minute, that no more is taken."""


class NotLoggedIn(DeskError):
    """Nobody is known to ask: there is no token, or none that is good."""


class Refused(DeskError):
    """What was sent is not accepted: a question, a file, an address, a name; the message says what would be."""


class Unanswerable(FinexpertError):
    """The question has no answer in these sources, and no better plan mends that."""

    kind = "unanswerable"


class NotInSources(Unanswerable):
    """A model says what the sources lack, which is the message; its cause is what failed before. `unclear` are terms that it would have to be told."""

    kind = "not in the sources"

    def __init__(self, missing: str, *unclear: str) -> None:
        super().__init__(missing)
        self.unclear = unclear


class AsOfError(Unanswerable):
    """A table cannot be seen as of the day that was asked for."""

    kind = "as of"


class StepError(FinexpertError):
    """One step of a plan failed.

    The text of a step error may be shown to a language model, so it never holds cell values: what raises it scrubs it first.
    """

    kind = "step"


class PlanError(StepError):
    """The plan is malformed: an unknown reference, a cycle, a wrong type."""

    kind = "plan"


class QueryError(StepError):
    """A SELECT was refused by the warehouse's rules or failed in the database."""

    kind = "sql"


class UnknownValue(QueryError):
    """A SELECT compares a column with a text that the column does not hold.

    `place` is the column, `meant` what it and its alternatives say, `text` what is not there; `values`, the nearest first, are in no
    message, nor is the `question`: one of its own says that a person alone can tell.
    """

    kind = "unknown value"
    question = ""

    def __init__(self, message: str, *, place: str, text: str, meant: str = "", values: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.place, self.text, self.meant, self.values = place, text, meant or place, values


class NoRows(QueryError):
    """The conditions of a SELECT leave no row, and one of them alone does so.

    `span` says from where to where its column runs, or nothing: for a person's eyes, and in no message. `beyond` says that the condition
    asks about a time of which the data hold nothing: no other SELECT would find it.
    """

    kind = "no rows"

    def __init__(self, message: str, *, span: str = "", beyond: bool = False) -> None:
        super().__init__(message)
        self.span, self.beyond = span, beyond


class CutFrame(QueryError):
    """A SELECT gives more rows than a frame may hold: what is computed from the first of them would be wrong."""

    kind = "cut"


class ScriptError(StepError):
    """A script was refused, raised, ran out of its limits, or set no usable answer."""

    kind = "script"


class CellError(StepError):
    """A table cell was not found, or several fit equally well: `name` is what was looked for, `candidates` what fits equally well."""

    kind = "cell"

    def __init__(self, message: str, *, name: str = "", candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name, self.candidates = name, candidates


class QuoteError(StepError):
    """The quoted words do not stand in the page, or the value does not stand in the quote."""

    kind = "quote"


class SearchError(StepError):
    """No page of the library answers a part of the question; the message says what was searched."""

    kind = "not found"


class OperationError(StepError):
    """An operation is unknown, has the wrong number of arguments, or does not apply to them."""

    kind = "compute"


class AnswerFormatError(StepError):
    """A value does not have the type that the answer must have."""

    kind = "answer_format"


class OutputError(StepError):
    """The text of a language model does not have the form that was asked for."""

    kind = "output"
