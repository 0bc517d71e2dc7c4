"""Reads the banks: lines of a file, words by kind, first names from everywhere, and the pools that values are drawn from."""

import functools
import os
import re

BANKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "banks")
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
HOURS = [f"{h} {half}" for h in range(1, 13) for half in ("am", "pm")] + [f"{h}:30" for h in range(1, 13)] + ["noon"]


def lines(*path):
    with open(os.path.join(BANKS, *path), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def words():
    """The parts of words.txt by name, each a list of entries split at blanks."""
    out = {}
    for line in lines("words.txt"):
        name, rest = re.match(r"\[(.*?)\] (.*)", line).groups()
        out[name] = rest.split(";") if ";" in rest or ":" in rest else rest.split()
    return out


@functools.cache
def pools():
    """The values of each kind; name has first names."""
    found = {}
    for line in lines("pools.txt"):
        kind, rest = re.match(r"\[(.*?)\] (.*)", line).groups()
        found.setdefault(kind, []).extend(value.strip() for value in rest.split(";") if value.strip())
    return found | {
        "name": sorted({*words()["names"], *(name for line in lines("names.txt") for name in line.split())}),
        "day": DAYS,
        "month": MONTHS,
        "number": [str(n) for n in range(2, 100)],
        "time": HOURS,
    }


def upper(s):
    return s[:1].upper() + s[1:]


def article(value, like="a"):
    """The value behind "a" or "an", with a capital letter where like has one."""
    return (like + "n " if value[0] in "aeiouAEIOU" else like + " ") + value
