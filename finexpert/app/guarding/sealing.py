"""Sealing what the state must keep and nobody may read: addresses with passwords.

    sealer = Sealer.of(settings.home, options.secret)
    sealer.open(sealer.seal("postgresql://desk:pw@db/markets"))

The key is FINEXPERT_SERVE_SECRET, or a file at home that is made once and is readable by its owner only.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import time
from pathlib import Path
from typing import Self

from cryptography.fernet import Fernet, InvalidToken
from pydantic import SecretStr

from finexpert.errors import ConfigurationError, StoreError
from finexpert.storage.private_files import make_folder

_SHORTEST = 16
_WAIT_SECONDS = 1.0


class Sealer:
    """Encrypts texts with one key; `cookie_key` is another one that is made from the same secret."""

    def __init__(self, secret: str) -> None:
        self._fernet = Fernet(base64.urlsafe_b64encode(hashlib.sha256(f"seal:{secret}".encode()).digest()))
        self.cookie_key = hashlib.sha256(f"cookie:{secret}".encode()).hexdigest()

    @classmethod
    def of(cls, home: Path, secret: SecretStr | None) -> Self:
        """With the secret that was set, else with the one at home."""
        if secret is not None:
            if len(secret.get_secret_value()) < _SHORTEST:
                raise ConfigurationError(
                    f"FINEXPERT_SERVE_SECRET has fewer than {_SHORTEST} characters: set one that cannot be guessed, "
                    "such as what `openssl rand -hex 32` prints"
                )
            return cls(secret.get_secret_value())
        return cls(_at_home(home / "serve"))

    def seal(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def open(self, sealed: str) -> str:
        """The text; StoreError where it was sealed with another secret."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise StoreError(
                "an address was sealed with another FINEXPERT_SERVE_SECRET: set the one from before, or connect the data again"
            ) from None


def _at_home(folder: Path) -> str:
    make_folder(folder)
    path = folder / "secret"
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return _read(path)
    try:
        with os.fdopen(descriptor, "w") as file:
            secret = secrets.token_hex(32)
            file.write(secret)
    except OSError:
        path.unlink()
        raise
    return secret


def _read(path: Path) -> str:
    """The secret that is there, which another process may be writing just now."""
    until = time.monotonic() + _WAIT_SECONDS
    while len(secret := path.read_text().strip()) < _SHORTEST:
        if time.monotonic() > until:
            # An empty one is known to everybody: with it cookies and shared addresses could be made up.
            raise StoreError(
                f"the secret in {path} is cut off: bring it back from a copy, or remove the file, after which databases have "
                "to be connected again"
            )
        time.sleep(0.02)
    return secret
