#!/usr/bin/env bash
# Checks the README: its schema and first code are the demo's, also those of the demo on a server; its output is what the
# demo prints; and the other Swift blocks compile. Manifests and the code of other libraries are left out: blocks that
# begin with `// Package.swift`, `// SwiftData` or `// GRDB`.
set -euo pipefail
cd "$(dirname "$0")/.."

demo=Examples/Posts
build=.build # the folder of the tests, where the library is built already
work=.build/readme
rm -rf $work
mkdir -p $work

# block LANGUAGE N: the N-th block of a language.
block() {
  awk -v fence="\`\`\`$1" -v wanted="$2" '
    inside && $0 == "```" { inside = 0; next }
    inside && seen == wanted { print }
    !inside && $0 == fence { inside = 1; seen++ }' README.md
}

same() { # what, expected file, found file
  if ! diff -u "$2" "$3" >&2; then
    echo "check-readme: $1 in README.md is not what the demo has" >&2
    exit 1
  fi
}

touch $demo/Package.swift # so that new files of the library are found, see the Makefile
swift build --scratch-path "$PWD/$build" --package-path $demo --product posts >$work/build.log 2>&1 || {
  cat $work/build.log >&2
  exit 1
}

block fbs 1 >$work/post.fbs
same "the schema" $demo/Sources/posts/post.fbs $work/post.fbs
block swift 1 >$work/ThirtySeconds.swift
sed '1,/^$/d' $demo/Sources/posts/ThirtySeconds.swift | diff -u - $work/ThirtySeconds.swift >&2 || {
  echo "check-readme: the first code in README.md is not the demo's" >&2
  exit 1
}
# The same on a server, but for the lines that open the workspace.
server=Examples/Server/Sources/hall
rest() { sed '1,/let dflat = /d' "$1/ThirtySeconds.swift"; }
if ! diff -u $demo/Sources/posts/post.fbs $server/post.fbs >&2 || ! diff -u <(rest $demo/Sources/posts) <(rest $server) >&2; then
  echo "check-readme: the posts of $server are not those of $demo" >&2
  exit 1
fi
printf 'Package: a\n' >$work/status
$build/debug/posts --into $work/demo $work/status >$work/all.txt
sed -n '3,/^$/p' $work/all.txt | sed '$d' >$work/expected.txt
block text 1 >$work/found.txt
same "the output" $work/expected.txt $work/found.txt
echo "import SQLiteDflat" >$work/Snippets.swift
number=1
while true; do
  number=$((number + 1))
  block swift $number >$work/snippet
  [ -s $work/snippet ] || break
  if head -n 1 $work/snippet | grep -qE '^// (Package.swift|SwiftData|GRDB)'; then continue; fi
  { echo "func snippet$number(dflat: SQLiteWorkspace) async throws {"; cat $work/snippet; echo "}"; } >>$work/Snippets.swift
done
generated=$(find $build/plugins -path '*/posts/destination/*' -name 'post*_generated.swift' | sort)
# shellcheck disable=SC2086 # a list of files without blanks
swiftc -typecheck -swift-version 6 -I $build/debug/Modules -I Sources/CSQLite -I Sources/CSQLiteThreads/include \
  $work/Snippets.swift $generated
echo "check-readme: README.md agrees with the code"
