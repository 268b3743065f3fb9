"""What a language model is told of a script's exception: words from this list alone, and names of columns and frames.

    said("KeyError", "'Jane Doe'", ["region"])                              ->  "KeyError"
    said("ValueError", "could not convert string to float: 'Jane'", [])     ->  "ValueError: could not convert string to float: <value>"

A script can raise whatever it likes, with a message that it made of rows. So no message is passed on: it is compared with the messages of
Python, pandas, numpy and scipy that are known here, and what is said is the one it equals. In a message `{v}` stands for what is never told,
`{n}` for names, told where they are names of columns or frames, `{t}` for a type, `{o}` for an operator, `{...}` for advice that is left out.
"""

from __future__ import annotations

import builtins
import functools
import re
from collections.abc import Collection

from finexpert.text.scrubbing import VALUE, is_type

MESSAGES = """
division by zero
float division by zero
float modulo
float floor division by zero
integer division or modulo by zero
integer modulo by zero
complex division by zero
math domain error
math range error
expected a {...}
could not convert string to float: {v}
could not convert string to complex: {v}
invalid literal for int() with base {v}: {v}
unsupported operand type(s) for {o}: '{t}' and '{t}'
unsupported operand type(s) for {o}: '{t}' and '{t}'{...}
bad operand type for unary {o}: '{t}'
'{o}' not supported between instances of '{t}' and '{t}'
can only concatenate str (not "{t}") to str
can only concatenate list (not "{t}") to list
can't multiply sequence by non-int of type '{t}'
'{t}' object has no attribute {v}
'{t}' object is not callable
'{t}' object is not iterable
'{t}' object is not subscriptable
'{t}' object does not support item assignment
'{t}' object cannot be interpreted as an integer
cannot unpack non-iterable {t} object
object of type '{t}' has no len()
argument of type '{t}' is not iterable
module {v} has no attribute {v}
type object {v} has no attribute {v}
name {v} is not defined
cannot access local variable {v} where it is not associated with a value
list index out of range
tuple index out of range
string index out of range
pop from empty list
pop from an empty deque
{v} is not in list
max() arg is an empty sequence
min() arg is an empty sequence
max() iterable argument is empty
min() iterable argument is empty
mean requires at least one data point
variance requires at least two data points
no median for empty data
not enough values to unpack (expected {v}, got {v})
too many values to unpack (expected {v})
{v}() missing {v} required positional argument: {v}
{v}() missing {v} required positional arguments: {v}
{v}() got an unexpected keyword argument {v}
{v}() got multiple values for argument {v}
{v}() takes {v} positional arguments but {v} were given
{v}() takes {v} positional argument but {v} were given
{v} takes no arguments
cannot convert float NaN to integer
cannot convert float infinity to integer
unhashable type: '{t}'
list indices must be integers or slices, not {t}
tuple indices must be integers or slices, not {t}
string indices must be integers, not '{t}'
must be real number, not {t}
int() argument must be a string, a bytes-like object or a real number, not '{t}'
float() argument must be a string or a real number, not '{t}'
type {t} doesn't define __round__ method
maximum recursion depth exceeded{...}
Exceeds the limit ({v} digits) for integer string conversion{...}
day is out of range for month
month must be in 1..12
year {v} is out of range
Invalid isoformat string: {v}
time data {v} does not match format {v}
unconverted data remains: {v}
invalid syntax
invalid syntax. Perhaps you forgot a comma?
unexpected indent
unindent does not match any outer indentation level
unexpected EOF while parsing
'return' outside function
unmatched {v}
closing parenthesis {v} does not match opening parenthesis {v}
{v} was never closed
unterminated string literal (detected at line {v})
unterminated f-string literal (detected at line {v})
expected ':'
expected an indented block{...}
invalid decimal literal
cannot assign to {...}
No module named {v}
cannot import name {v} from {v}
Length of values ({v}) does not match length of index ({v})
Length mismatch: Expected axis has {v} elements, new values have {v} elements
{n} not in index
{n} not found in axis
None of {v} are in the [columns]
None of {v} are in the [index]
None of {n} are in the columns
Column(s) {n} do not exist
Column not found: {n}
Columns not found: {n}
Label(s) {n} do not exist
cannot insert {n}, already exists
The truth value of a {t} is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all().
The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()
single positional indexer is out-of-bounds
positional indexers are out-of-bounds
iloc cannot enlarge its target object
index {v} is out of bounds for axis {v} with size {v}
index {v} is out of bounds
cannot reindex on an axis with duplicate labels
Index contains duplicate entries, cannot reshape
Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got an instance of '{t}'
Can only use .dt accessor with datetimelike values
Can only use .str accessor with string values{...}
Can only use .cat accessor with a 'category' dtype
Cannot compare dtypes {t} and {t}
Invalid comparison between dtype={t} and {t}
Cannot subtract tz-naive and tz-aware datetime-like objects{...}
Cannot compare tz-naive and tz-aware {...}
Addition/subtraction of integers and integer-arrays with {t} is no longer supported.{...}
cannot add {t} and {t}
cannot subtract {t} from {t}
Cannot convert non-finite values (NA or inf) to integer
cannot convert NA to integer
cannot convert NaT to integer
boolean value of NA is ambiguous
You are trying to merge on {t} and {t} columns for key {n}. If you wish to proceed you should use pd.concat
No common columns to perform merge on. {...}
Merge keys contain null values on {v} side
Merge keys are not unique in either left or right dataset; not a one-to-one merge
left keys must be sorted
right keys must be sorted
incompatible merge keys {v} {t} and {t}, must be the same type
columns overlap but no suffix specified: {v}
cannot set a row with mismatched columns
Columns must be same length as key
All arrays must be of the same length
If using all scalar values, you must pass an index
Per-column arrays must each be 1-dimensional
Data must be 1-dimensional, got ndarray of shape {v} instead
No objects to concatenate
Cannot set a DataFrame with multiple columns to the single column {n}
Cannot set a DataFrame without columns to the column {n}
agg function failed [how->{v},dtype->{t}]
dtype '{t}' does not support operation {v}
Cannot perform reduction {v} with string dtype
Could not convert {v} to numeric
Unable to parse string {v} at position {v}
Unable to parse string {v}
time data {v} doesn't match format {v}, at position {v}. {...}
time data {v} doesn't match format {v}{...}
Unknown datetime string format, unable to parse: {v}, at position {v}
Unknown datetime string format, unable to parse: {v}
Unknown string format: {v}
Out of bounds nanosecond timestamp: {v}
Given date string {v} not likely a datetime{...}
cannot assemble the datetimes: {...}
cannot handle a non-unique multi-index!
Grouper and axis must be same length
Grouper for {n} not 1-dimensional
{n} is both an index level and a column label, which is ambiguous.
No group keys passed!
index must be monotonic increasing or decreasing
index must be monotonic
window must be an integer 0 or greater
cannot convert the series to {v}
Can only compare identically-labeled Series objects
Can only compare identically-labeled (both index and columns) DataFrame objects
Bin edges must be unique: {...}
Bin labels must be one fewer than the number of bin edges
bins must increase monotonically.
Cannot cut empty array
Index data must be 1-dimensional
Must produce aggregated value
Function did not transform
Transform function failed
cannot combine transform and aggregation operations
nested renamer is not supported
Must pass 2-d input. {...}
can only convert an array of size 1 to a Python scalar
only length-1 arrays can be converted to Python scalars
only 0-dimensional arrays can be converted to Python scalars
cannot convert float NaN to bool
Cannot cast {t} to dtype {t}
Cannot interpret {v} as a data type
data type {v} not understood
cannot safely cast non-equivalent {t} to {t}
Cannot index by location index with a non-integer key
Cannot index with multidimensional key
unalignable boolean Series provided as indexer{...}
Boolean array expected for the condition, not {t}
Item wrong length {v} instead of {v}.
operands could not be broadcast together with shapes {v}
shapes {v} not aligned: {v}
setting an array element with a sequence.{...}
zero-size array to reduction operation {v} which has no identity
attempt to get argmax of an empty sequence
attempt to get argmin of an empty sequence
ufunc {v} not supported for the input types, {...}
loop of ufunc does not support argument {v} of type {t} which has no callable {v} method
Singular matrix
SVD did not converge{...}
Last 2 dimensions of the array must be square
Percentiles must be in the range [0, 100]
Quantiles must be in the range [0, 1]
f(a) and f(b) must have different signs
Failed to converge after {v}
Inputs must not be empty.
x and y must have the same length.
x and y must have length at least 2.
`x` and `y` must have length at least 2.
Cannot calculate a linear regression if all x values are identical
expected non-empty vector for x
expected x and y to have same length
array must not contain infs or NaNs
zero-dimensional arrays cannot be concatenated
all the input array dimensions except for the concatenation axis must match exactly, {...}
x and y must have same first dimension, but have shapes {v} and {v}
""".strip().splitlines()

_split = str.split
_OPERATORS = frozenset(
    [
        *_split("+ - * / // % ** @ & | ^ << >> < > <= >= == != += -= *= /= //= %= **= divmod() or pow() ~ abs()"),
        "** or pow()",
    ]
)
_LIBRARIES = (
    "ArrowInvalid ArrowTypeError ArrowNotImplementedError ArrowKeyError LinAlgError AxisError ParserError MergeError IndexingError"
    " InvalidIndexError OutOfBoundsDatetime OutOfBoundsTimedelta IntCastingNaNError UndefinedVariableError SpecificationError DataError"
    " UnsupportedFunctionCall EmptyDataError DateParseError ZoneInfoNotFoundError FrozenInstanceError UFuncTypeError DTypePromotionError"
    " UnsortedIndexError InvalidOperation DivisionByZero DuplicateLabelError NumbaUtilError StatisticsError IncompatibleFrequency"
    " _UFuncNoLoopError _UFuncBinaryResolutionError PerformanceWarning SettingWithCopyError ChainedAssignmentError error JSONDecodeError"
)
KINDS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
) | frozenset(_LIBRARIES.split())
OWN = "an exception of the script's own"
_MOST = 2_000
_SLOT = re.compile(r"\{(v|n|t|o|\.\.\.)\}")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")


def said(kind: str, message: str, names: Collection[str]) -> str:
    """What may be told of an exception; `names` are those of columns and frames.

    >>> said("KeyError", "['region', 'Jane'] not in index", ["region", "amount"])
    "KeyError: 'region', <value> not in index"
    >>> said("ValueError", "4 8 2 1 3", [])
    'ValueError'
    >>> said("Jane", "", [])
    "an exception of the script's own"
    """
    shown = kind if kind in KINDS else OWN
    known = _key(message, names) if kind == "KeyError" else None
    known = known or _known(message[:_MOST], frozenset(names))
    return f"{shown}: {known}" if known else shown


def _key(message: str, names: Collection[str]) -> str | None:
    key = message[1:-1] if message[:1] == message[-1:] and message[:1] in ("'", '"') else None
    return f"'{key}'" if key is not None and key in names else None


def _known(message: str, names: frozenset[str]) -> str | None:
    for template, pattern in _patterns():
        if (match := pattern.fullmatch(message)) is not None:
            return _filled(template, match.groups(), names)
    return None


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (
            template,
            re.compile("".join(_part(part, place) for place, part in enumerate(_SLOT.split(template))), re.DOTALL),
        )
        for template in MESSAGES
    )


def _part(part: str, place: int) -> str:
    if place % 2 == 0:
        return re.escape(part)
    return {"t": r"([\w\[\], .<>=|-]{1,60}?)", "o": r"(\S.{0,15}?)"}.get(part, r"(.*?)")


def _filled(template: str, found: tuple[str, ...], names: frozenset[str]) -> str:
    values = iter(found)

    def fill(slot: re.Match[str]) -> str:
        text = next(values)
        match slot[1]:
            case "t":
                return text if is_type(text) else VALUE
            case "o":
                return text if text in _OPERATORS else VALUE
            case "n":
                return _names(text, names)
            case "v":
                return VALUE
        return ""

    return _SLOT.sub(fill, template).strip()


def _names(text: str, names: frozenset[str]) -> str:
    quoted = [one or other for one, other in _QUOTED.findall(text)] or [text]
    shown = list(dict.fromkeys(f"'{one}'" if one in names else VALUE for one in quoted))
    return ", ".join(shown)
