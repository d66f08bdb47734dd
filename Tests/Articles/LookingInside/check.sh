#!/usr/bin/env bash
# The commands of the article, line by line. Each prints what stands below it.
cp post.txt post.fbs
cp objects.txt posts.jsonl
# The terminal shows both outputs in the order in which they are written.
replay() {
  local command='' line
  while IFS= read -r line; do
    if [[ $line == '$ '* ]]; then
      printf '%s\n' "$line"
      command=${line#'$ '}
      bash -c "$command" 2>&1 | tr -d '\r' || true
    fi
  done <"$1"
}
for number in 1 2 3 4 5; do
  replay "session$number.txt" </dev/null >"shown$number.txt"
  diff <(sed -e '$a\' "session$number.txt") "shown$number.txt"
done
