#!/usr/bin/env python3
"""Fails if a file of a library uses a type that a higher floor of it declares, or if a cycle of files has grown.

The floors are folders, from the lowest to the highest; what stands in a library's folder itself is the highest. What a file uses is told
by the names of types in it, outside of comments and strings. Only types that are declared at the beginning of a line count, and private
ones do not.

A cycle is a set of files each of which needs, over some others, every other: they can only be understood together. A cycle may not
become greater than the number below; when one has become smaller, the number follows.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent / "Sources"

# The floors of each library, and the number of files in its greatest cycle.
libraries = {
    "Dflat": (
        ["Model", "Query", "Engine", "Scheduling", "Changes", "Observation", "Dictionary", "Migration", "Workspace", "Publishers", "Views"], 19),
    "Silo": (
        ["Values", "Stores", "Bookkeeping", "Versions", "Workspaces", "Silos", "Relations", "Uploads", "Retention", "Watching"], 12),
}

declaration = re.compile(
    r"^((?:(?:public|package|private|fileprivate|final|indirect|nonisolated|@\w+(?:\([^)]*\))?)\s+)*)"
    r"(?:class|struct|enum|protocol|actor|typealias)\s+([A-Z]\w*)", re.MULTILINE)


def code(path):
    """The text of a file without comments and strings."""
    text = path.read_text()
    text = re.sub(r'"""(?:\\.|[^\\])*?"""', '""', text, flags=re.DOTALL)
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', '""', text)


def greatest_cycle(uses):
    """The greatest strongly connected component of a graph (Tarjan's algorithm, without recursion)."""
    index, low, component, stack, greatest = {}, {}, set(), [], []
    for start in uses:
        if start in index:
            continue
        work = [(start, iter(sorted(uses[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        component.add(start)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found = []
                    while not found or found[-1] != node:
                        found.append(stack.pop())
                        component.discard(found[-1])
                    greatest = max(greatest, found, key=len)
            elif following not in index:
                index[following] = low[following] = len(index)
                stack.append(following)
                component.add(following)
                work.append((following, iter(sorted(uses[following]))))
            elif following in component:
                low[node] = min(low[node], index[following])
    return sorted(greatest)


def check(library, floors, limit):
    """The faults of a library, one line each."""
    folder = root / library
    files = sorted(path.relative_to(folder) for path in folder.rglob("*.swift"))
    texts = {file: code(folder / file) for file in files}
    declared = {}
    for file, text in texts.items():
        for modifiers, name in declaration.findall(text):
            if "private" not in modifiers.split() and "fileprivate" not in modifiers.split():
                declared.setdefault(name, file)
    height = {name: place for place, name in enumerate(floors)}
    floor = {file: height.get(file.parts[0], len(height)) for file in files}
    faults = [
        f"Sources/{library}/{file} stands on no floor"
        for file in files if len(file.parts) > 1 and file.parts[0] not in height]
    uses = {}
    for file, text in texts.items():
        names = set(re.findall(r"\b[A-Z]\w*", text)) & declared.keys()
        uses[file] = {declared[name] for name in names} - {file}
        for name in sorted(names):
            if floor[declared[name]] > floor[file]:
                faults.append(f"Sources/{library}/{file} uses {name}, which the higher floor {declared[name].parts[0]} declares")
    cycle = greatest_cycle(uses)
    print(f"{library}: the greatest cycle has {len(cycle)} of {len(files)} files")
    if "--cycles" in sys.argv:
        print("\n".join(f"  {file}" for file in cycle))
    if len(cycle) > limit:
        faults.append(f"Sources/{library}: the greatest cycle has grown from {limit} to {len(cycle)} files; --cycles lists them")
    return faults


faults = [fault for library, (floors, limit) in libraries.items() for fault in check(library, floors, limit)]
for fault in faults:
    print(fault, file=sys.stderr)
if faults:
    sys.exit("move the type down, or declare a protocol for it on the lower floor")
