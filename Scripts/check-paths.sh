#!/usr/bin/env bash
# Fails if a file of the repository names a place that exists on one machine only: somebody's home, this very checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

# Folders in which people keep checkouts, at the start of an absolute path. The brackets keep this line out of its own net.
places='(^|[^A-Za-z0-9_.:/~-])/([h]ome|[U]sers|[r]oot|[w]ork|[w]orkspace|[p]rivate/tmp)/[A-Za-z0-9_.-]'

list() { git ls-files -z --cached --others --exclude-standard; }

status=0
for pattern in "$places" "$(pwd -P | sed 's/[][\.*^$+?(){}|]/\\&/g')/"; do
  if list | xargs -0 grep -nIE -- "$pattern" /dev/null; then status=1; fi
done
if [ $status -ne 0 ]; then
  echo "check-paths: these lines name a path of one machine" >&2
fi
exit $status
