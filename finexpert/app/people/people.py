"""Who uses a server, and what they may do.

    >>> Person("oidc:7", "Ann", "teacher", "rates").can("teach")
    True
    >>> Person("token:ci", "ci", "owner", "rates", frozenset({"read"})).can("manage")
    False

Conversations and records belong to a person; what is taught belongs to a team.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from finexpert.errors import Forbidden

Role = Literal["reader", "teacher", "owner"]
Right = Literal["read", "ask", "teach", "manage"]

ROLES: tuple[Role, ...] = get_args(Role)
RIGHTS: tuple[Right, ...] = get_args(Right)
EVERY_RIGHT: frozenset[Right] = frozenset(RIGHTS)
_OF_ROLE: Mapping[Role, frozenset[Right]] = {
    "reader": frozenset({"read", "ask"}),
    "teacher": frozenset({"read", "ask", "teach"}),
    "owner": EVERY_RIGHT,
}
LOCAL_TEAM = "local"


@dataclass(frozen=True)
class Person:
    """A person or a program with a token. `scopes` narrow what the role allows."""

    id: str
    name: str
    role: Role = "reader"
    team: str = LOCAL_TEAM
    scopes: frozenset[Right] = EVERY_RIGHT

    def can(self, right: Right) -> bool:
        """Whether the role has the right, and the token does not leave it out."""
        return right in _OF_ROLE[self.role] and right in self.scopes

    def need(self, right: Right) -> None:
        """Raise Forbidden unless this person has the right; the message names who has it."""
        if self.can(right):
            return
        if right in _OF_ROLE[self.role]:
            raise Forbidden(f"this token was made without the scope {right!r}: make one with `--scope {right}`")
        least = next(role for role in ROLES if right in _OF_ROLE[role])
        raise Forbidden(f"the role {self.role!r} may not {right}: ask somebody with the role {least!r}")


def local_person() -> Person:
    """The one user of a server without a login."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a user that the system has no name for
        name = "local"
    return Person("local", name, "owner", LOCAL_TEAM)
