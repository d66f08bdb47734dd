#!/usr/bin/env python3
"""Checks that the articles tell the truth: every code block of every DocC catalogue and of Documentation is compiled or run.

The articles show what a reader needs. What a compiler needs besides stands in Tests/Articles, one folder for articles that are compiled
together, one file for each article. A file names its article in the first line, and a line in it says where a block goes:

    // Sources/Dflat/Dflat.docc/Searching.md
    import SQLiteDflat

    func searching(dflat: SQLiteWorkspace) throws {
      // block 2
    }

`block 2` is the second block of the article, `block 2.1` the first paragraph of it. Where an article leaves something out with `…`, nothing
is compiled. SQL goes into a string of a program. In a folder,

  *.fbs          are compiled by dflatc; what it writes belongs to the program
  *.swift        are compiled together, as one program that is not linked
  *.wrong.swift  must not compile beside the others; `// error: …` is a part of the message, and its blocks say `// wrong`
  *.run.swift    is compiled with the schemas, linked and run; it prints what `print(…)  // this` says in its blocks
  *.run.txt      is what the program of that name prints instead, where the article shows the output in a block of its own
  check.sh       is run in a copy of the folder, where `dflatc` is the schema compiler, and compares what commands print with files;
                 `*.txt`, `*.graphql` and `*.json` are assembled, too

Every block must be in one of these files or, with the reason, in Tests/Articles/not-compiled.txt. Call it after `swift build`, in the folder
of the package; arguments choose folders of Tests/Articles.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

root = pathlib.Path(__file__).resolve().parent.parent
os.chdir(root)
support = pathlib.Path("Tests/Articles")
work = pathlib.Path(".build/articles")
built = pathlib.Path(".build/debug")
articles = sorted(pathlib.Path("Sources").glob("*/*.docc/*.md")) + sorted(pathlib.Path("Documentation").glob("*.md"))


class Block:
    def __init__(self, language, line):
        self.language = language
        self.line = line  # of its first line
        self.lines = []

    def paragraph(self, number):
        """The lines of a paragraph and the number of the first; of the whole block for nil."""
        if number is None:
            return self.lines, self.line
        paragraphs, start = [[]], [self.line]
        for offset, line in enumerate(self.lines):
            if line.strip():
                paragraphs[-1].append(line)
            elif paragraphs[-1]:
                paragraphs.append([])
                start.append(self.line + offset + 1)
        return (paragraphs[number - 1], start[number - 1]) if number <= len(paragraphs) else (None, 0)


def blocks(article):
    found, current = [], None
    for number, line in enumerate(pathlib.Path(article).read_text().split("\n"), 1):
        if line.startswith("```"):
            if current:
                found.append(current)
                current = None
            else:
                current = Block(line[3:].strip(), number + 1)
        elif current:
            current.lines.append(line)
    return found


known = {str(article): blocks(article) for article in articles}
used = set()
failures = []


def fail(message):
    failures.append(message)


def without_ellipsis(line):
    """What is left out with `…` in code: the content of braces, or a whole line."""
    if line.strip() == "…":
        return ""
    return re.sub(r"\{(?P<arguments>[^{}\"]*?)\s*…\s*\}", r"{\g<arguments> }", line)


placeholder = re.compile(r"^\s*(?://|#) block (\d+)(?:\.(\d+))?$")


def assemble(file):
    """A file of Tests/Articles with the blocks of its article in their places."""
    lines = file.read_text().split("\n")
    named = re.match(r"^(?://|#) (\S+\.md)$", lines[1] if lines[0].startswith("#!") else lines[0])
    article = named.group(1) if named else None
    if named and article not in known:
        fail(f"{file}:1: there is no article {article}")
        return "\n".join(lines)
    result = []
    for number, line in enumerate(lines, 1):
        match = placeholder.match(line)
        if not match:
            result.append(line)
            continue
        if not article:
            fail(f"{file}:{number}: its first line has to name the article")
            continue
        index, part = int(match.group(1)), match.group(2) and int(match.group(2))
        if index > len(known[article]) or known[article][index - 1].paragraph(part)[0] is None:
            fail(f"{file}:{number}: {article} has no block {match.group(1)}" + (f", paragraph {part}" if part else ""))
            continue
        content, start = known[article][index - 1].paragraph(part)
        used.add((article, index))
        if ("// wrong" in "\n".join(content)) != file.name.endswith(".wrong.swift"):
            fail(f"{article}:{start}: code that does not compile is marked with `// wrong` and stands in a file *.wrong.swift")
        if file.suffix == ".swift" and known[article][index - 1].language == "swift":
            result.append(f'#sourceLocation(file: "{article}", line: {start})')
            result += [without_ellipsis(line) for line in content]
            result.append(f'#sourceLocation(file: "{file}", line: {number + 1})')
        else:
            indentation = line[: len(line) - len(line.lstrip())]
            result += [indentation + line for line in content]
    # A file of text alone is the block.
    if file.suffix in (".txt", ".graphql", ".json") and result and named:
        result = result[1:]
    return "\n".join(result)


def call(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def pkg_config(package):
    return call(["pkg-config", "--cflags-only-I", package]).stdout.split()


modules = ["-I", str(built / "Modules"), "-I", "Sources/CSQLite", "-I", "Sources/CSQLiteThreads/include", "-I", "Sources/CLMDB", "-I", "Sources/CPostgres", "-I", "Sources/CMicroHTTP"]
for flag in pkg_config("libpq"):
    modules += ["-Xcc", flag]
for macros in ["EmpireMacros", "SiloMacros"]:
    modules += ["-load-plugin-executable", f"{built / (macros + '-tool')}#{macros}"]
compiler = pathlib.Path(shutil.which("swiftc")).resolve().parent
manifests = compiler.parent / "lib/swift/pm/ManifestAPI"
modules += ["-I", str(manifests), "-package-description-version", "6.2", "-plugin-path", str(compiler.parent / "lib/swift/host/plugins/testing")]
swift = ["swiftc", "-swift-version", "6", "-wmo", "-suppress-warnings"] + modules


def check(folder):
    """Checks a folder of Tests/Articles; returns what is wrong with it."""
    place = work / folder.name
    shutil.rmtree(place, ignore_errors=True)
    (place / "generated").mkdir(parents=True)
    problems = []
    sources, wrong, programs, schemas = [], [], [], []
    for file in sorted(folder.iterdir()):
        if not file.is_file():
            continue
        copy = place / file.name
        copy.write_text(assemble(file))
        if file.name.endswith(".wrong.swift"):
            wrong.append(copy)
        elif file.name.endswith(".run.swift"):
            programs.append(copy)
        elif file.suffix == ".swift":
            sources.append(copy)
        elif file.suffix == ".fbs":
            schemas.append(copy)
    dflatc = (built / "dflatc").resolve()
    if schemas:
        result = call([str(dflatc), "compile", "--declare-namespaces", "-o", "generated"] + [schema.name for schema in schemas], cwd=place)
        if result.returncode != 0:
            return [result.stdout]
    if (place / "check.sh").exists():
        environment = dict(os.environ, PATH=f"{dflatc.parent}:{os.environ['PATH']}", PACKAGE=str(root))
        result = call(["bash", "-euo", "pipefail", "check.sh"], cwd=place, env=environment)
        if result.returncode != 0:
            problems.append(f"{folder}/check.sh:\n{result.stdout}")
    generated = sorted((place / "generated").glob("*.swift"))
    if sources:
        result = call(swift + ["-typecheck", "-module-name", "Articles"] + [str(path) for path in sources + generated])
        if result.returncode != 0:
            problems.append(result.stdout)
    for path in wrong:
        result = call(swift + ["-typecheck", "-module-name", "Articles"] + [str(path) for path in sources + generated + [path]])
        expected = re.search(r"// error: (.*)", path.read_text()).group(1)
        if result.returncode == 0:
            problems.append(f"{folder}/{path.name}: compiles, but its article says that it is wrong")
        elif expected not in result.stdout:
            problems.append(f"{folder}/{path.name}: fails for another reason than '{expected}':\n{result.stdout}")
    for path in programs:
        problems += run(path, generated)
    return problems


libraries = ["CSQLiteThreads", "Dflat", "DflatGraphQL", "FlatBuffersRuntime", "Platform", "StandardConformances", "SQLiteAccess", "SQLiteDflat"]


def run(source, generated):
    """Runs a program and compares what it prints with what its blocks say."""
    place = source.with_suffix("")
    place.mkdir()
    main = place / ("Program.swift" if "@main" in source.read_text() else "main.swift")
    shutil.copy(source, main)
    objects = [str(path) for library in libraries for path in (built / f"{library}.build").rglob("*.o")]
    result = call(
        swift + [str(main)] + [str(path) for path in generated] + objects
        + ["-lsqlite3", "-o", str(place / "program")])
    if result.returncode != 0:
        return [result.stdout]
    result = subprocess.run([str((place / "program").resolve())], cwd=place, capture_output=True, text=True)
    # Behind the call, or in the next line. `…` stands for anything.
    output = source.with_suffix(".txt")
    if output.exists():
        expected = output.read_text().rstrip("\n").split("\n")
    else:
        expected = re.findall(r"^[^/\n]*print\(.*\)(?: \})?\s+// (.*)$", main.read_text(), re.MULTILINE)
    pattern = "\n".join(".*".join(re.escape(part) for part in line.split("…")) for line in expected)
    found = result.stdout.rstrip("\n").split("\n")
    if result.returncode != 0 or not re.fullmatch(pattern, "\n".join(found)):
        return [f"{source}: the article says\n  " + "\n  ".join(expected) + "\nand the program prints\n  " + "\n  ".join(found + result.stderr.split("\n"))]
    return []


def main():
    if not sys.platform.startswith("linux"):
        print("check-articles: left out; the articles are compiled on Linux, with stand-ins for Apple's frameworks")
        return
    chosen = sys.argv[1:]
    folders = [support / name for name in chosen] if chosen else sorted(path for path in support.iterdir() if path.is_dir())
    # Two at a time: a compiler that only checks types uses one core.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for problems in pool.map(check, folders):
            failures.extend(problems)
    for line in (support / "not-compiled.txt").read_text().split("\n"):
        match = re.match(r"^(\S+\.md) (\d+): \S", line)
        if match:
            if (match.group(1), int(match.group(2))) in used:
                fail(f"{support}/not-compiled.txt: block {match.group(2)} of {match.group(1)} is compiled")
            used.add((match.group(1), int(match.group(2))))
    if not chosen:
        for article, found in known.items():
            for index, block in enumerate(found, 1):
                if (article, index) not in used:
                    fail(f"{article}:{block.line}: block {index} ({block.language or 'no language'}) is in no file of {support}")
        for article, index in sorted(used):
            if index > len(known.get(article, [])):
                fail(f"{support}/not-compiled.txt: {article} has no block {index}")
    if failures:
        print("\n".join(failures), file=sys.stderr)
        print(f"check-articles: {len(failures)} problems", file=sys.stderr)
        sys.exit(1)
    if chosen:
        print(f"check-articles: {', '.join(chosen)}: all is well")
        return
    count = sum(len(found) for found in known.values())
    print(f"check-articles: the {count} code blocks of {len([a for a in known if known[a]])} articles agree with the code")


main()
