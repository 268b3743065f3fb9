"""Files of an object store: Amazon S3 and what speaks like it (MinIO, R2, Ceph), and Google Cloud Storage.

    s3://desk/exports/2024.parquet     one file
    s3://desk/exports/                 every table of the folder
    s3://desk/exports/**/*.csv         those that the pattern matches

Credentials are those of the environment, as Amazon's and Google's own tools read them: AWS_ACCESS_KEY_ID, AWS_PROFILE, ~/.aws,
AWS_ENDPOINT_URL for another store than Amazon's; GOOGLE_APPLICATION_CREDENTIALS. An address holds none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs

from finexpert.errors import DataError
from finexpert.warehouse.files.found import KINDS, MOST_FILES, READ
from finexpert.warehouse.files.remote.files import Remote, RemoteFile

_WILD = re.compile(r"[*?\[]")
_PART = 1 << 20
_SECONDS = 20
_SAID = re.compile(
    r"AWS Error (\w+)|HTTP status code (\d+)|\b(PERMISSION_DENIED|UNAUTHENTICATED|NOT_FOUND|UNAVAILABLE)\b"
)
_CREDENTIALS = {
    "s3": "the credentials of the environment are used (AWS_ACCESS_KEY_ID, AWS_PROFILE, ~/.aws), and AWS_ENDPOINT_URL for another store than Amazon's",
    "gs": "the credentials of the environment are used (GOOGLE_APPLICATION_CREDENTIALS, gcloud)",
}


class StoreFiles(Remote):
    """Files of a bucket. `path` is what stands behind the scheme."""

    def __init__(self, scheme: str, path: str, most: int) -> None:
        if "@" in path.partition("/")[0]:
            raise DataError(f"an address of {scheme}:// holds no credentials: {_CREDENTIALS[scheme]}")
        if not path.strip("/"):
            raise DataError(f"the address names no bucket: write {scheme}://bucket/path")
        super().__init__(f"{scheme}://{path}", most)
        self._scheme, self._path = scheme, path.strip("/")
        self._store, found = self._listed()
        self.files = [_file(info) for info in sorted(found, key=lambda info: str(info.path))]
        if not self.files:
            raise DataError(
                f"{self.place} holds no table: {READ} are read, of a folder itself or by a pattern, as in {scheme}://bucket/path/**/*.parquet"
            )
        if len(self.files) > MOST_FILES:
            raise DataError(
                f"{self.place} means {len(self.files):,} files, and at most {MOST_FILES} are read: name fewer with a pattern"
            )

    def _listed(self) -> tuple[Any, list[Any]]:
        """The store and the files; a public bucket is read without credentials where there are none."""
        first: Exception | None = None
        for anonymous in (False, True):
            try:
                store = _store(self._scheme, self._path.partition("/")[0], anonymous)
                return store, self._find(store)
            except (OSError, ValueError) as error:
                first = first or error
        raise self._cannot(first)

    def _find(self, store: Any) -> list[Any]:
        if not _WILD.search(self._path):
            (info,) = store.get_file_info([self._path])
            if info.is_file:
                if _suffix(self._path) not in KINDS:
                    raise DataError(f"{self.place} is of no kind that is read: {READ} are, by their suffix")
                return [info]
            within = store.get_file_info(pyarrow.fs.FileSelector(self._path, allow_not_found=True))
            return [each for each in within if _may_be_table(each)]
        parts = self._path.split("/")
        first = next(place for place, part in enumerate(parts) if _WILD.search(part))
        if first == 0:
            raise DataError(f"the bucket of {self.place} has to be named without a pattern")
        deep = first < len(parts) - 1 or "**" in parts[-1]
        selector = pyarrow.fs.FileSelector("/".join(parts[:first]), recursive=deep, allow_not_found=True)
        pattern = re.compile(_regex(self._path))
        return [each for each in store.get_file_info(selector) if _may_be_table(each) and pattern.fullmatch(each.path)]

    def parts(self, file: RemoteFile) -> Iterator[bytes]:
        try:
            with self._store.open_input_stream(file.path) as stream:
                while part := stream.read(_PART):
                    yield part
        except OSError as error:
            raise self._cannot(error) from None

    def close(self) -> None:
        """The store keeps no connection of ours."""

    def _cannot(self, error: Exception | None) -> DataError:
        # A store's own words hold the request, and in it more than the name of what is wrong.
        found = _SAID.search(str(error))
        why = next(filter(None, found.groups()), "") if found else type(error).__name__
        return DataError(f"{self.place} cannot be read ({why}): {_CREDENTIALS[self._scheme]}")


def _store(scheme: str, bucket: str, anonymous: bool) -> Any:
    if scheme == "gs":
        return pyarrow.fs.GcsFileSystem(anonymous=anonymous)
    given = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    options: dict[str, Any] = {"connect_timeout": _SECONDS, "request_timeout": _SECONDS}
    if given:
        place = urlsplit(given if "://" in given else f"https://{given}")
        options |= {"endpoint_override": place.netloc, "scheme": place.scheme}
    elif not region:
        region = pyarrow.fs.resolve_s3_region(bucket)
    return pyarrow.fs.S3FileSystem(anonymous=anonymous, region=region, **options)


def _file(info: Any) -> RemoteFile:
    moment = info.mtime.isoformat() if info.mtime is not None else ""
    return RemoteFile(str(info.path), int(info.size), moment)


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return f".{name.rpartition('.')[2].lower()}" if "." in name else ""


def _may_be_table(info: Any) -> bool:
    return bool(info.is_file) and _suffix(info.path) in KINDS and not info.base_name.startswith((".", "~$", "_"))


def _regex(pattern: str) -> str:
    """A pattern of paths as a regular expression: a star stays within a folder, two go through folders.

    >>> [bool(re.fullmatch(_regex("desk/*/a-?.csv"), path)) for path in ("desk/x/a-1.csv", "desk/x/y/a-1.csv")]
    [True, False]
    >>> [bool(re.fullmatch(_regex("desk/**/*.csv"), path)) for path in ("desk/a.csv", "desk/x/y/a.csv", "desk/a.json")]
    [True, True, False]
    """
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[[^]]+\]|.", pattern, re.DOTALL)
    said = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(said.get(token) or (_choice(token) if len(token) > 1 else re.escape(token)) for token in tokens)


def _choice(token: str) -> str:
    inside = token[1:-1].replace("\\", "\\\\")
    return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
