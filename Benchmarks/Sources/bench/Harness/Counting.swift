// Counting: what callgrind counts of a program that runs under it.
//
// `bench instructions` starts this program under valgrind, with counting off. It is on during what
// the clocks measure, on all threads, and off everywhere else.

import CLinux

enum Counting {
  /// Whether this process runs under callgrind.
  private static let isOn = bench_can_count() != 0

  @inline(__always)
  static func start() { if isOn { bench_start_counting() } }

  @inline(__always)
  static func stop() { if isOn { bench_stop_counting() } }

  /// Has the instructions that were counted since the last call written to a file.
  static func write() { if isOn { bench_write_count() } }
}
