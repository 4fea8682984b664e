"""Bytes of XC text to numbers and back: the two inner loops of reading and writing.

Python's own string handling costs about a microsecond per feature, a hundred times what the
disk needs, so the loops over single bytes are compiled. Both kernels release the GIL: several
blocks of a file are parsed at once, and while the next block is being decompressed.

A decimal becomes ``mantissa * 10**exponent`` with a mantissa of up to 18 digits. While the
mantissa is below 2**53 and the exponent within ±22, both are exact in float64, so that one
multiplication or division rounds correctly (Clinger's fast path) and the result equals
``numpy.float32(float(text))``. Outside of it the float64 is at most a few units in its last
place off, which a float32 does not see but in freak cases.
"""

from __future__ import annotations

import math

import numpy as np

from labelspace.compiling import njit

OK = 0
BAD_LABEL = 1
NEGATIVE_LABEL = 2
LABEL_TOO_LARGE = 3
BAD_FEATURE = 4
NEGATIVE_FEATURE = 5
FEATURE_TOO_LARGE = 6
BAD_VALUE = 7
NOT_FINITE = 8

# Positions in the report of `parse_rows`.
N_ROWS, N_LABELS, N_FEATURES, MAX_LABEL, MAX_FEATURE, OFFSET = range(6)
REPORT_SIZE = 6

POWERS_OF_TEN = np.array([10.0**i for i in range(23)])
_ENOUGH = 1 << 40  # beyond every legal index; larger numbers need not be told apart

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _COMMA, _MINUS, _DOT, _ZERO, _COLON = 43, 44, 45, 46, 48, 58


@njit(cache=True, nogil=True)
def parse_rows(
    text,
    blank_is_row,
    label_limit,
    feature_limit,
    labels,
    label_ends,
    features,
    values,
    feature_ends,
    report,
):
    """Parse whole lines into the arrays given; return ``OK`` or what is wrong.

    ``text`` (uint8) ends with a newline. ``labels``, ``features``, ``values`` receive the row's
    numbers one after another, ``label_ends`` and ``feature_ends`` where each row stops. The
    report's ``OFFSET`` is where the bad token begins.
    """
    n_rows = n_labels = n_features = 0
    max_label = max_feature = -1
    status = OK
    i = 0
    end = text.size
    start = 0
    while i < end and status == OK:
        c = text[i]
        line_start = i
        if c == _HASH:  # a comment line is no row
            while text[i] != _NEWLINE:
                i += 1
            i += 1
            continue
        if _at_line_end(text, i):
            if blank_is_row:
                label_ends[n_rows] = n_labels
                feature_ends[n_rows] = n_features
                n_rows += 1
            i += 1 if c == _NEWLINE else 2
            continue

        # Labels: up to the first blank. A first word with a colon is already a feature.
        first_label = n_labels
        while c != _SPACE and c != _TAB:
            start = i
            digits = 0
            number = 0
            while _ZERO <= text[i] <= 57:
                if number < _ENOUGH:
                    number = number * 10 + (text[i] - _ZERO)
                digits += 1
                i += 1
            c = text[i]
            if digits == 0:
                status = NEGATIVE_LABEL if c == _MINUS else BAD_LABEL
                break
            if c == _COLON and n_labels == first_label and start == line_start:
                i = line_start
                break
            if c != _COMMA and c != _SPACE and c != _TAB and not _at_line_end(text, i):
                status = BAD_LABEL
                break
            if number >= label_limit:
                status = LABEL_TOO_LARGE
                break
            if number > max_label:
                max_label = number
            labels[n_labels] = number
            n_labels += 1
            if c != _COMMA:
                break
            i += 1
            c = _ZERO  # whatever follows a comma has to be a label
        if status != OK:
            break

        # Features: index:value, between blanks.
        while True:
            while text[i] == _SPACE or text[i] == _TAB:
                i += 1
            if text[i] == _HASH:
                while text[i] != _NEWLINE:
                    i += 1
            if _at_line_end(text, i):
                break
            start = i
            number = 0
            while _ZERO <= text[i] <= 57:
                if number < _ENOUGH:
                    number = number * 10 + (text[i] - _ZERO)
                i += 1
            if i == start or text[i] != _COLON:
                status = NEGATIVE_FEATURE if text[start] == _MINUS else BAD_FEATURE
                break
            if number >= feature_limit:
                status = FEATURE_TOO_LARGE
                break
            i, value = _parse_decimal(text, i + 1)
            c = text[i]
            if i < 0 or not (c == _SPACE or c == _TAB or _at_line_end(text, i)):
                status = BAD_VALUE
                break
            single = np.float32(value)
            if not np.isfinite(single):
                status = NOT_FINITE
                break
            if single != 0:
                features[n_features] = number
                values[n_features] = single
                n_features += 1
            if number > max_feature:  # a zero is no feature, but it says how wide the rows are
                max_feature = number
        if status != OK:
            break
        i += 1 if text[i] == _NEWLINE else 2
        label_ends[n_rows] = n_labels
        feature_ends[n_rows] = n_features
        n_rows += 1

    report[N_ROWS] = n_rows
    report[N_LABELS] = n_labels
    report[N_FEATURES] = n_features
    report[OFFSET] = start
    report[MAX_LABEL] = max_label
    report[MAX_FEATURE] = max_feature
    return status


@njit(cache=True, nogil=True)
def count_lines(text):
    """Return the number of newlines (vectorised, unlike ``bytes.count``)."""
    n_lines = 0
    for i in range(text.size):
        n_lines += text[i] == _NEWLINE
    return n_lines


@njit(cache=True, nogil=True)
def format_rows(labels, label_ends, features, values, feature_ends, out):
    """Write rows as XC text into ``out`` (uint8); return its length, or -1.

    Values get the fewest digits (six to nine, without trailing zeros) that read back as the
    same float32. -1: some value is too large or small for that; Python must write the block.
    ``out`` needs 12 bytes per label, 36 per feature and 2 per row.
    """
    size = 0
    label = feature = 0
    for row in range(label_ends.size):
        first = label
        while label < label_ends[row]:
            if label > first:
                out[size] = _COMMA
                size += 1
            size = _put_integer(out, size, labels[label])
            label += 1
        if feature == feature_ends[row] and label == first:
            out[size] = _SPACE  # a row of nothing is a blank, not an empty line
            size += 1
        while feature < feature_ends[row]:
            out[size] = _SPACE
            size = _put_integer(out, size + 1, features[feature])
            out[size] = _COLON
            size = _put_value(out, size + 1, values[feature])
            if size < 0:
                return size
            feature += 1
        out[size] = _NEWLINE
        size += 1
    return size


@njit(cache=True, nogil=True, inline="always")
def _at_line_end(text, i):
    """Return whether a line break, Unix or Windows, is at ``i``."""
    return text[i] == _NEWLINE or (text[i] == _RETURN and text[i + 1] == _NEWLINE)


@njit(cache=True, nogil=True)
def _parse_decimal(text, i):
    """Return where the decimal that begins at ``i`` stops, and its value; (-1, 0) if none."""
    negative = text[i] == _MINUS
    if negative or text[i] == _PLUS:
        i += 1
    mantissa = 0
    exponent = 0
    kept = 0
    digits = 0
    while _ZERO <= text[i] <= 57:
        if kept < 18:
            mantissa = mantissa * 10 + (text[i] - _ZERO)
            if mantissa > 0:
                kept += 1
        else:
            exponent += 1
        digits += 1
        i += 1
    if text[i] == _DOT:
        i += 1
        while _ZERO <= text[i] <= 57:
            if kept < 18:
                mantissa = mantissa * 10 + (text[i] - _ZERO)
                if mantissa > 0:
                    kept += 1
                exponent -= 1
            digits += 1
            i += 1
    if digits == 0:
        return -1, 0.0
    if text[i] == 101 or text[i] == 69:  # e, E
        i += 1
        down = text[i] == _MINUS
        if down or text[i] == _PLUS:
            i += 1
        power = 0
        digits = 0
        while _ZERO <= text[i] <= 57:
            if power < _ENOUGH:
                power = power * 10 + (text[i] - _ZERO)
            digits += 1
            i += 1
        if digits == 0:
            return -1, 0.0
        exponent += -power if down else power
    value = float(mantissa)
    if mantissa != 0:
        while exponent > 0 and value < math.inf:
            step = min(exponent, 22)
            value *= POWERS_OF_TEN[step]
            exponent -= step
        while exponent < 0 and value > 0:
            step = min(-exponent, 22)
            value /= POWERS_OF_TEN[step]
            exponent += step
    return i, -value if negative else value


@njit(cache=True, nogil=True)
def _put_integer(out, size, number):
    """Write a non-negative integer at ``size``; return where it stops."""
    digits = 1
    rest = number // 10
    while rest > 0:
        digits += 1
        rest //= 10
    for place in range(size + digits - 1, size - 1, -1):
        out[place] = _ZERO + number % 10
        number //= 10
    return size + digits


@njit(cache=True, nogil=True)
def _put_value(out, size, value):
    """Write a float32 that reads back the same; return where it stops, -1 if it cannot."""
    single = np.float32(value)
    if single < 0:
        out[size] = _MINUS
        size += 1
        single = -single
    if single == np.floor(single) and single < 1e6:
        return _put_integer(out, size, np.int64(single))
    number = float(single)
    if number < 1e-9 or number >= 1e6:
        return -1
    first = int(math.floor(math.log10(number)))  # place of the first significant digit
    for significant in range(6, 10):
        decimals = significant - 1 - first
        scaled = np.int64(math.floor(number * POWERS_OF_TEN[decimals] + 0.5))
        if np.float32(float(scaled) / POWERS_OF_TEN[decimals]) == single:
            while scaled % 10 == 0:
                scaled //= 10
                decimals -= 1
            whole = scaled // np.int64(POWERS_OF_TEN[decimals])
            size = _put_integer(out, size, whole)
            out[size] = _DOT
            scaled -= whole * np.int64(POWERS_OF_TEN[decimals])
            for place in range(size + decimals, size, -1):
                out[place] = _ZERO + scaled % 10
                scaled //= 10
            return size + 1 + decimals
    return -1
