#!/usr/bin/env python3
"""Wraps paragraphs and list items of Markdown files that have a line of more than 120 columns; `make format` calls it.

Code, tables, headings and HTML stay as they are. Links and code spans are not broken.
"""

import re
import sys

WIDTH = 120
ITEM = re.compile(r"^(\s*)([-*+]|\d+\.)\s+")
TOKEN = re.compile(r"(?:!?\[[^\]\[]*\]\([^)]*\)|`[^`]*`|\S)+")
# What would begin something else at the beginning of a line.
MARKER = re.compile(r"^([-*+#>]|\d+\.|\|)$|^#|^<!|^```")


def fill(text, first, rest):
    """Lines of at most WIDTH columns, with the indentation of the first and of the others."""
    lines, line, is_empty = [], first, True
    for token in TOKEN.findall(text):
        if is_empty:
            line += token
            is_empty = False
        elif len(line) + 1 + len(token) <= WIDTH or MARKER.match(token):
            line += " " + token
        else:
            lines.append(line)
            line = rest + token
    return lines + [line]


def stays(line):
    return not line.strip() or re.match(r"#|<(?!doc:)|\s*(\||```)", line)


def wrap(lines):
    result, index, is_code = [], 0, False
    while index < len(lines):
        line = lines[index]
        index += 1
        if line.lstrip().startswith("```"):
            is_code = not is_code
        # Code is also what is indented by four columns after an empty line.
        is_indented = line.startswith("    ") and not ITEM.match(line) and not (result and result[-1].strip())
        if is_code or stays(line) or is_indented:
            result.append(line)
            continue
        block = [line]
        while index < len(lines) and not stays(lines[index]) and not ITEM.match(lines[index]):
            block.append(lines[index])
            index += 1
        if all(len(line) <= WIDTH for line in block):
            result += block
            continue
        item = ITEM.match(block[0])
        first = item.group(0) if item else re.match(r"\s*", block[0]).group(0)
        text = " ".join([block[0][len(first):]] + [line.strip() for line in block[1:]])
        result += fill(text, first, " " * len(first))
    return result


for path in sys.argv[1:]:
    with open(path) as file:
        lines = file.read().split("\n")
    wrapped = wrap(lines)
    if wrapped != lines:
        with open(path, "w") as file:
            file.write("\n".join(wrapped))
