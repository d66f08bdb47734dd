#!/usr/bin/env python3
"""Names the test targets that a change touches, separated by commas; `make check` runs them.

The change is what differs from the branch `main`, or on `main` itself from the last commit: committed or not, new files included. BASE in
the environment names another commit. A file belongs to the target in whose folder it is; pages of documentation belong to none. The tests
of a target are the test targets that use it, over others too. A change of Package.swift touches every target.

What was found is told on the standard error. The exit status is 3 if nothing has changed.
"""

import json
import os
import pathlib
import subprocess
import sys


def lines(*command):
    """The output of a command that must succeed."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def base():
    """The commit with which the working tree is compared."""
    if os.environ.get("BASE"):
        return os.environ["BASE"]
    main = subprocess.run(["git", "merge-base", "HEAD", "main"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return main.stdout.strip() if main.returncode == 0 else "HEAD"


def folder(target):
    """Where a target's files are."""
    kinds = {"test": "Tests", "plugin": "Plugins"}
    return pathlib.PurePath(target.get("path") or f"{kinds.get(target['type'], 'Sources')}/{target['name']}")


def users(changed, uses):
    """The targets that use one of the changed targets, over others too, and those themselves."""
    found, rest = set(), set(changed)
    while rest:
        found |= rest
        rest = {name for name, used in uses.items() if used & rest} - found
    return found


changed = set(lines("git", "diff", "--name-only", "--no-renames", base()))
changed |= set(lines("git", "ls-files", "--others", "--exclude-standard"))
if not changed:
    print("nothing changed", file=sys.stderr)
    sys.exit(3)

targets = json.loads("\n".join(lines("swift", "package", "dump-package")))["targets"]
folders = {folder(target): target["name"] for target in targets}
uses = {
    target["name"]: {next(iter(dependency.values()))[0] for dependency in target["dependencies"]}
    for target in targets}
touched = {
    # The innermost folder: some targets stand in the folder of another.
    next((folders[parent] for parent in pathlib.PurePath(file).parents if parent in folders), None)
    for file in changed if not file.endswith(".md") and ".docc/" not in file} - {None}
if "Package.swift" in changed:
    touched = set(uses)
chosen = sorted(users(touched, uses) & {target["name"] for target in targets if target["type"] == "test"})
where = ", ".join(sorted(touched)) if len(touched) < 10 else f"{len(touched)} targets"
print(f"changed: {len(changed)} files, in {where or 'no target'}", file=sys.stderr)
print(f"tests: {', '.join(chosen) or 'none'}", file=sys.stderr)
print(",".join(chosen))
