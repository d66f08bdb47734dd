#!/usr/bin/env python3
"""Measures what the compiler needs for the Swift of a program's GraphQL operations, by parts.

    Scripts/graphql-compile-time.py [TYPES [OPERATIONS [ENTITIES]]]

The program is that of large-graphql.py, with 400 types, 57 operations and 22 entities if no numbers are
given. Each part is one call of the compiler in debug mode. CPU seconds, user and system, depend little on
what else runs. `swift build` has to be done before; DFLATC names another dflatc to compare with.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, ".build/debug")
DFLATC = os.environ.get("DFLATC", os.path.join(BUILD, "dflatc"))
MODEL = re.compile(r"(_(data_model|mutating|query|fields)|_generated)_generated\.swift$")


def compile(name, files, folder):
    """Compiles files as one module, and prints CPU seconds and memory."""
    arguments = ["swiftc", "-frontend", "-c", "-Onone", "-swift-version", "6", "-parse-as-library",
                 "-module-name", "Shape", "-package-name", "shape", "-I", os.path.join(BUILD, "Modules")]
    for module in ["CSQLite", "CSQLiteThreads/include"]:
        arguments += ["-I", os.path.join(ROOT, "Sources", module)]
    process = subprocess.Popen(arguments + ["-o", os.path.join(folder, "shape.o")] + sorted(files))
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{name}: the compiler has failed")
    lines = sum(open(file).read().count("\n") for file in files)
    seconds = usage.ru_utime + usage.ru_stime
    print(f"{name:36}{seconds:6.1f} s CPU {usage.ru_maxrss // 1024:6} MB {lines:7} lines", flush=True)


def main():
    numbers = sys.argv[1:] + ["400", "57", "22"][len(sys.argv) - 1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(ROOT, "Scripts/large-graphql.py"), folder] + numbers, check=True)
        options = open(os.path.join(folder, "options.txt")).read().split()
        inputs = ["-S", os.path.join(folder, "schema.graphqls"), os.path.join(folder, "operations.graphql")]

        def generate(name, options):
            output = os.path.join(folder, name)
            subprocess.run([DFLATC, "graphql", "-o", output] + options + inputs, check=True, stderr=subprocess.DEVNULL)
            return output

        compile("operations, without entities", glob.glob(generate("plain", []) + "/*.swift"), folder)
        output = generate("whole", options)
        subprocess.run([DFLATC, "compile", "-o", output] + glob.glob(output + "/*.fbs"), check=True)
        whole = glob.glob(output + "/*.swift")
        compile("entities", [file for file in whole if MODEL.search(file)], folder)
        compile("operations, entities and storing", whole, folder)


if __name__ == "__main__":
    main()
