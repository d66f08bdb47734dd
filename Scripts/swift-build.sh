#!/usr/bin/env bash
# swift build, once more if the build system itself has crashed. On Linux its event loop does so in rare cases, in libdispatch
# (_dispatch_event_loop_drain). What is wrong with the code gives an ordinary status, and is not tried again.
set -uo pipefail

swift build "$@"
status=$?
case $status in
  132 | 134 | 135 | 136 | 139)
    echo "swift build has crashed with signal $((status - 128)): once more" >&2
    exec swift build "$@"
    ;;
esac
exit $status
