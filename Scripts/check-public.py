#!/usr/bin/env python3
"""Prints how many public declarations each product has, and fails if one of them stands nowhere.

What is public is what programs use and what is documented for them. So every public type at the top level of a module, every
free function and every operator must be one of these:

- named in a list under `## Topics` of a page of the library's DocC catalogue (an operator: in code of any page; what a module without
  a catalogue has: as code in Documentation/*.md),
- used by generated code: by the golden files of the generator's tests, by committed generated files, or by a text that a macro writes.

Nested types and members are read with their type, so they are counted and not looked for.

The count is that of the symbol graphs with access level `public`: the module's own symbols, extensions of other modules' types
included, without those that the compiler synthesizes or inherits from a protocol's extension. Symbol graphs leave out names that
begin with an underscore. They are found by a scan of the sources, and printed in a column of their own. What a package protocol's
extension gives to a public type (`AdvisedError`) is no declaration of that type, and not counted.

It reads the symbol graphs that Scripts/docs.sh has extracted; `--list` prints the top-level names with the reason why each may be
public.
"""

import collections
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
graphs = root / ".build/symbol-graphs"

# Each product with the modules that travel with it. A module without a catalogue is documented in the folder Documentation.
products = {"Dflat": ["Dflat", "FlatBuffersRuntime", "StandardConformances"], "Silo": ["Silo"]}

types = {"struct", "class", "enum", "protocol", "actor", "typealias", "macro"}
underscored = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))? )*(?:(?:final|indirect|static|nonisolated|override|mutating|class|convenience) )*"
    r"(?:public|open)(?:\(set\))? .*?\b(?:(?:func|var|let|typealias|struct|class|enum|protocol|macro|case) `?_\w|init\??\(_\w)")


def own(module):
    """The symbols that a module itself declares, or None if its symbol graph was not extracted."""
    files = sorted(graphs.glob(f"*/{module}.symbols.json")) + sorted(graphs.glob(f"*/{module}@*.symbols.json"))
    if not files:
        return None
    found = {}
    for file in files:
        for symbol in json.loads(file.read_text())["symbols"]:
            name = symbol["identifier"]["precise"]
            if "::SYNTHESIZED::" not in name:
                found[name] = (symbol["kind"]["identifier"].removeprefix("swift."), tuple(symbol["pathComponents"]))
    return list(found.values())


def scanned(module):
    """How many public declarations of a module begin with an underscore."""
    files = (root / "Sources" / module).rglob("*.swift")
    return sum(bool(underscored.match(line)) for file in files for line in file.read_text().splitlines())


def documented(module):
    """The names in topics of a module's catalogue, and the operators in code of its pages."""
    catalogue = root / "Sources" / module / f"{module}.docc"
    if not catalogue.exists():
        text = "".join(page.read_text() for page in sorted((root / "Documentation").glob("*.md")))
        return set(re.findall(r"`(\w+)`", text)), set(re.findall(r"`([-+*/%=<>!&|?~^]+)`", text))
    names, operators = set(), set()
    for page in sorted(catalogue.rglob("*.md")):
        text = page.read_text()
        topics = text.partition("\n## Topics\n")[2]
        names.update(re.findall(r"^- ``([^`]+)``", topics, re.MULTILINE))
        code = re.findall(r"^```.*?^```|^(?:    .*\n)+|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)
        for piece in code:
            operators.update(re.findall(r"[-+*/%=<>!&|?~^]+", piece))
    return {re.split(r"[-/]", name)[0] for name in names if "/" not in name}, operators


def generated():
    """The words of generated code."""
    words = set()
    tests = root / "Tests"
    for file in [*tests.glob("DflatGeneratorTests/Golden/**/*"), *tests.glob("**/Generated/**/*.swift")]:
        if file.is_file():
            words.update(re.findall(r"\w+", file.read_text(errors="replace")))
    for file in (root / "Sources").glob("*Macros/**/*.swift"):
        for text in re.findall(r'"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"', file.read_text(), re.DOTALL):
            words.update(re.findall(r"\w+", text))
    return words


def check(module, words, show):
    """The faults of a module, one line each, and its counts."""
    symbols = own(module)
    if symbols is None:
        return [f"{module}: no symbol graph; run Scripts/docs.sh"], 0, 0
    names, operators = documented(module)
    groups = collections.Counter()
    for kind, path in symbols:
        if len(path) == 1 and (kind in types or kind in ("func", "func.op", "var")):
            groups[kind, path[0]] += 1
    faults = []
    for (kind, title), number in sorted(groups.items(), key=lambda group: group[0][1]):
        name = title.partition("(")[0]
        reason = None
        if kind == "func.op" and name in operators:
            reason = "in code of an article"
        elif title in names or name in names:
            reason = "in a topic"
        elif name in words:
            reason = "in generated code"
        if show:
            print(f"  {module}.{title} ({number} × {kind}): {reason or 'NOWHERE'}")
        if not reason:
            faults.append(f"{module}.{title} ({kind}) is public, but in no topic and in no generated code: make it package, or document it")
    return faults, len(symbols), scanned(module)


def main():
    words = generated()
    faults = []
    print(f"{'product':10} {'module':22} {'public':>7} {'with _':>7}")
    for product, modules in products.items():
        totals = [0, 0]
        for module in modules:
            found, count, hidden = check(module, words, "--list" in sys.argv[1:])
            faults += found
            totals = [totals[0] + count, totals[1] + hidden]
            print(f"{product:10} {module:22} {count:7} {hidden:7}")
        if len(modules) > 1:
            print(f"{product:10} {'all':22} {totals[0]:7} {totals[1]:7}")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
