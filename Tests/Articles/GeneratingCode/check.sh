#!/usr/bin/env bash
# The schemas of two targets, the two forms of dflat.json, and the commands.
mkdir -p Sources/Places Sources/App old
cp place.txt Sources/Places/place.fbs
cp visit.txt Sources/App/visit.fbs
dflatc compile -o generated/visit --module Places=Sources/Places -I Sources/Places Sources/App/visit.fbs
grep -q "import Places" generated/visit/visit_data_model_generated.swift

mkdir -p App/Schemas App/Sources/App
cp place.txt App/Schemas/place.fbs
cp visit.txt App/Sources/App/visit.fbs
cp modules.json App/Sources/App/dflat.json
dflatc compile -o generated/modules --config App/Sources/App/dflat.json App/Sources/App/visit.fbs
diff -r generated/visit generated/modules

cp access.json dflat.json
dflatc compile -o generated/access --config dflat.json App/Schemas/place.fbs
if grep "^public\|^  public" generated/access/place_generated.swift; then exit 1; fi

# `swift run dflatc` without a package.
swift() { shift && "$@"; }
printf 'table Post { id: long (primary); }\nroot_type Post;\n' | tee old/post.fbs >Sources/App/post.fbs
. ./commands.txt
rm -r generated/*
