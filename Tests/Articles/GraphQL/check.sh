#!/usr/bin/env bash
# The entity that the article shows, and code for operations of the example about Star Wars.
mkdir work
mv operation.graphql types.graphql work
dflatc graphql -o work -S work/types.graphql --entity Work --primary-key id work/operation.graphql
sed '/^\/\/ /d; /^$/d' work/Work_generated.fbs | diff entity.txt -
cp work/Work_fields_generated.swift generated
dflatc compile -o generated work/Work_generated.fbs --declare-namespaces

cp "$PACKAGE/Examples/StarWars/Sources/starwars/schema.graphqls" .
mkdir -p Sources/App
cat >operations.graphql <<'END'
query Hero($episode: Episode!) { hero(episode: $episode) { id name } }
query HeroDetails($episode: Episode) { hero(episode: $episode) { id name friends { id name } } }
query Line($episode: Episode!) { hero(episode: $episode) { ...HeroLine friends { name } } }
fragment HeroLine on Character { id name }
query Fleet($id: ID!) { human(id: $id) { id starships { id name } } }
END
. ./commands.txt
# The same with what dflat.json says.
rm -r Sources/App/*
entities=$(python3 -c 'import json; print(*["--entity " + name for name in json.load(open("dflat.json"))["graphql"]["entities"]])')
# shellcheck disable=SC2086 # several arguments
dflatc graphql -o Sources/App -S schema.graphqls $entities --primary-key id --scalar Date=string --fragments operations.graphql
dflatc compile -o Sources/App Sources/App/*_generated.fbs
cp Sources/App/*.swift generated
