"""What the numbers of MySQL's and MariaDB's errors and warnings stand for, as the states of the SQL standard.

    1969 (MariaDB), 3024 (MySQL)   ->   57014, the time limit of the statement
    1365, an error or a warning    ->   22012, a division by zero

Texts of the server are not read: they hold values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_NUMBERS = {
    "57014": (1028, 1205, 1317, 1969, 3024, 3636),
    "22012": (1365,),
    "22003": (1264, 1441, 1690, 1916),
    "22": (1265, 1292, 1300, 1366, 1406, 1411, 1525),
    "21000": (1242,),
    "25006": (1290, 1792),
    "42501": (1044, 1142, 1143, 1227, 1370),
    "53": (1021, 1037, 1038, 1041, 1114),
    "54": (1119, 1260, 1301, 1436),
    "28000": (1045, 1130, 1251, 1698, 2059, 2061),
    "3D000": (1049,),
    "08": (1040, 1053, 1153, 1158, 1159, 1160, 1161, 1203, 1226, 1927, 2002, 2003, 2005, 2006, 2013, 2026, 2055),
    "42": (1052, 1054, 1055, 1056, 1060, 1064, 1066, 1111, 1140, 1146, 1222, 1235, 1241, 1247, 1248, 1267, 1270, 1271, 1305, 1582,
           1583, 4015),
}  # fmt: skip
_STATES: Mapping[int, str] = {number: state for state, numbers in _NUMBERS.items() for number in numbers}


def state_of(error: BaseException | None) -> str:
    """The state of an error of the driver; an empty text where it is of another driver, or its number is not known here.

    >>> state_of(ValueError(1365))
    ''
    """
    number = next(iter(getattr(error, "args", ())), 0)
    if not type(error).__module__.startswith("pymysql") or not isinstance(number, int) or not number:
        return ""
    return _STATES.get(number, "")


def warned_of(numbers: Sequence[int]) -> str:
    """The state of the first warning; that of a cast that fails, where it is not known."""
    return next((_STATES.get(number, "22") for number in numbers), "22")
