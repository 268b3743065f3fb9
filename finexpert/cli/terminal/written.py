"""What `finexpert ask` writes beside what it prints: the rows as CSV or Excel, or a folder with all of the answer.

finexpert ask "..." --csv fees.csv --excel fees.xlsx --out fees/

    fees/answer.md  fees/answer.csv  fees/chart-1.png  fees/record.json
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from finexpert.core.statuses import gives_value
from finexpert.errors import ConfigurationError
from finexpert.storage.private_files import make_folder, write_whole

if TYPE_CHECKING:
    from finexpert.core.answers import Answer


@dataclass(frozen=True)
class Written:
    """Where an answer is to be written."""

    csv: Path | None = None
    excel: Path | None = None
    out: Path | None = None

    def check(self) -> None:
        """Raise ConfigurationError for a place that cannot be written, before a question is paid for."""
        for option, path in (("--csv", self.csv), ("--excel", self.excel)):
            if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
                why = "is a folder" if path.is_dir() else "lies in a folder that is not there"
                raise ConfigurationError(f"{option} {path} {why}: name a file in a folder that is there")
        if self.csv is not None and self.csv.suffix.lower() in (".xlsx", ".xls", ".parquet", ".json"):
            raise ConfigurationError(f"--csv {self.csv} is named as another kind of file: end it in .csv")
        if self.excel is not None and self.excel.suffix.lower() != ".xlsx":
            raise ConfigurationError(f"--excel {self.excel} is no .xlsx file: name it so")
        if self.excel is not None and find_spec("xlsxwriter") is None:
            raise ConfigurationError("--excel needs XlsxWriter: pip install 'finexpert[excel]'")
        if self.out is not None and self.out.exists() and not self.out.is_dir():
            raise ConfigurationError(f"--out {self.out} is a file: name a folder, which is made where it is not there")

    def write(self, answer: Answer) -> list[Path]:
        """Write the answer, and return the files; nothing where there is no answer."""
        if not gives_value(answer.status):
            return []
        if self.csv is not None:
            answer.to_csv(self.csv)
        if self.excel is not None:
            answer.to_excel(self.excel)
        files = [path for path in (self.csv, self.excel) if path is not None]
        return files if self.out is None else files + _folder(answer, self.out)


def _folder(answer: Answer, folder: Path) -> list[Path]:
    make_folder(folder)
    files = [folder / "answer.md", folder / "answer.csv"]
    write_whole(files[0], answer._repr_markdown_())
    answer.to_csv(files[1])
    for number, png in enumerate(answer.figures, 1):
        files.append(folder / f"chart-{number}.png")
        write_whole(files[-1], png)
    if answer.record is not None:
        files.append(answer.record.save(folder).replace(folder / "record.json"))
    return files
