#!/usr/bin/env bash
# The Swift of the tutorial's operation and entities.
mv schema.graphql schema.graphqls
mkdir out
dflatc graphql --config dflat.json -o out Starred.graphql
dflatc compile -o generated out/*_generated.fbs
cp out/*.swift generated
