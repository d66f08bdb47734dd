#!/usr/bin/env bash
# Builds one site from the DocC pages of every library in .spi.yml, into .build/docs, with the toolchain's own tools and no
# package plugin. Its first page is Documentation/Libraries.docc. With --serve it then serves the site on PORT (8000).
#
# A warning of DocC (a dead link, a missing parameter) fails the script, and so does a public declaration that is neither in a
# topic nor in generated code (check-public.py).
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=$(sed -n 's/^ *- \([A-Z][A-Za-z]*\)$/\1/p' .spi.yml)
site=.build/docs
archives=.build/docs-archives

tool() { if command -v xcrun >/dev/null 2>&1; then xcrun "$@"; else "$@"; fi; }

swift build
modules=$(swift build --show-bin-path)/Modules
triple=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\(.*\)".*/\1/p' | head -n 1)
sdk=()
if command -v xcrun >/dev/null 2>&1; then sdk=(-sdk "$(xcrun --show-sdk-path)"); fi
headers=(-I Sources/CSQLite -I Sources/CSQLiteThreads/include -I Sources/CLMDB -I Sources/CPostgres -I Sources/CMicroHTTP)
headers+=(-I "$(pkg-config --variable=includedir libpq)")

# convert CATALOG NAME ARGUMENT...: makes an archive whose pages others can link to.
convert() {
  tool docc convert "$1" --fallback-display-name "$2" --fallback-bundle-identifier "dflat.$2" --warnings-as-errors \
    --enable-experimental-external-link-support --output-path "$archives/$2.doccarchive" "${@:3}"
  echo "docs: $2"
}

rm -rf $site $archives .build/symbol-graphs
mkdir -p $archives
status=0
dependencies=()

# extract MODULE: writes the module's symbol graphs, of what is public.
extract() {
  mkdir -p ".build/symbol-graphs/$1"
  tool swift-symbolgraph-extract -module-name "$1" -target "$triple" ${sdk[@]+"${sdk[@]}"} \
    -I "$modules" "${headers[@]}" -minimum-access-level public -output-dir ".build/symbol-graphs/$1"
}

# They travel with Dflat and have no pages of their own.
extract StandardConformances
for library in $libraries; do extract "$library"; done
Scripts/check-public.py || status=1
for library in $libraries; do
  graphs=.build/symbol-graphs/$library
  convert "Sources/$library/$library.docc" "$library" --additional-symbol-graph-dir "$graphs" || status=1
  dependencies+=(--dependency "$archives/$library.doccarchive")
done
[ $status = 0 ] || exit $status
convert Documentation/Libraries.docc Libraries "${dependencies[@]}"

# DocC's pages find their library's sidebar by its first entry in the index, and the first page refers to all libraries: it
# comes last.
order=()
for name in $libraries Libraries; do order+=("$archives/$name.doccarchive"); done
tool docc merge "${order[@]}" --synthesized-landing-page-name Dflat --output-path $site
# DocC's pages choose the sidebar when they are loaded: a link to another library has to load its page.
cat >>"$(echo $site/js/index.*.js)" <<'END'

;(() => {
  const library = () => location.pathname.match(/\/documentation\/([^/]+)/)?.[1]
  const push = history.pushState
  history.pushState = function (...values) {
    const before = library()
    push.apply(this, values)
    if (library() !== before) location.reload()
  }
})()
END
# DocC has no page for the address of the site itself.
cat >$site/index.html <<'END'
<!doctype html>
<meta charset="utf-8">
<title>Dflat</title>
<meta http-equiv="refresh" content="0; url=documentation/libraries/">
<a href="documentation/libraries/">Dflat and its libraries</a>
END
echo "docs: $site"

if [ "${1:-}" = --serve ]; then
  port=${PORT:-8000}
  echo "docs: http://localhost:$port"
  exec python3 -m http.server --directory $site --bind 127.0.0.1 "$port"
fi
