#!/usr/bin/env bash
# Measures the release build of a target with 30 entities, some 21,000 generated lines:
# large-build-time.sh [FOLDER]
#
#   clean   the target anew, with everything that it depends on built already
#   append  the same target after a field was appended to one schema
#
# Both are measured with public declarations, and with generated ones that are internal.
#
# The package stays in FOLDER if one is given, so that a second run builds only what has changed.
# ENTITIES sets their number, BUILD another folder for what is built.
# Wall seconds are comparable only on a machine that does nothing else; CPU seconds, user and system
# of all processes, depend less on what else runs.
set -euo pipefail
cd "$(dirname "$0")/.."

checkout=$PWD
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/dflat-large-build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
cd "$work"
built=${BUILD:-.build}

# Writes the schema of an entity; what is given behind its number is appended to its fields.
schema() {
  cat >"Sources/Model/entity$1.fbs" <<FBS
namespace Model$1;

enum Color: byte { Red, Green, Blue }
struct Point { x: double; y: double; z: float; }
table Address { street: string; city: string (indexed); zip: int; location: Point; }
table Image { path: string (unique); width: int; height: int; bytes: [ubyte]; }
union Attachment { Image, Address }

table Entity$1 (v: "1") {
  key: string (primary);
  number: long (primary);
  title: string (indexed);
  color: Color = Green;
  priority: int (indexed);
  score: double;
  created: long (indexed);
  is_done: bool;
  home: Address;
  origin: Point;
  tags: [string];
  images: [Image];
  attachment: Attachment (indexed);
  note: string;
  parent: long = null;
  ${2:-}
}
root_type Entity$1;
FBS
}

mkdir -p Sources/Model
cat >Package.swift <<SWIFT
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Large", platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Dflat", path: "$checkout")],
  targets: [
    .target(
      name: "Model", dependencies: [.product(name: "Dflat", package: "Dflat")],
      plugins: [.plugin(name: "DflatPlugin", package: "Dflat")])
  ])
SWIFT
entities=${ENTITIES:-30}
changed=$(((entities + 3) / 4))
for number in $(seq "$entities"); do schema "$number"; done
touch Sources/Model/Model.swift

build() {
  swift build -c release --scratch-path "$built" --manifest-cache local ${DFLAT_BUILD_OPTIONS:-} >build.log 2>&1 || {
    cat build.log >&2
    exit 1
  }
}

# Prints how long a build takes, beside a goal.
measure() { # name, goal
  local times TIMEFORMAT='%R %U %S'
  times=$({ time build; } 2>&1)
  awk -v name="$1" -v goal="$2" '{ printf "%-16s %9.1f %9d %9.1f\n", name, $1, goal, $2 + $3 }' \
    <<<"$times"
}

# Measures both builds with an access level.
measure_both() { # level
  echo "{\"access\": \"$1\"}" >Sources/Model/dflat.json
  schema "$changed"
  build
  find "$built"/release/Model.build -type f ! -name output-file-map.json ! -name sources -delete
  rm -f "$built"/release/Modules/Model.*
  measure "clean, $1" 70
  schema "$changed" 'appended: int;'
  measure "append, $1" 20
}

echo '{}' >Sources/Model/dflat.json
build
find "$built/plugins" -name '*_generated.swift' -exec cat {} + | wc -l | sed 's/$/ generated lines/'
printf '%-16s %9s %9s %9s\n' build 'wall (s)' 'goal (s)' 'CPU (s)'
measure_both public
measure_both internal
