// PeakMemory: the peak memory of a piece of work, in a process of its own.
//
// A process that has run other cases has free memory that would hide the usage, so the program
// starts itself again for each measurement: `bench memory WORK FILE`. There:
//
//  - The work is warmed up first: files are open, statements prepared, SQLite's page cache is full.
//  - Free memory is returned to the system, and the kernel's high-water mark of resident memory is
//    reset.
//  - After the work, the result is the increase of the high-water mark over the resident memory
//    before, or the increase of memory allocated by malloc, whichever is larger. The first includes
//    allocator overhead; the second includes memory from pages that were already resident.
//
// The kernel's mark can be reset on Linux only; on other systems there is no result.

import CLinux
import Foundation

enum PeakMemory {
  /// The kinds of work for which a process can be started.
  enum Work: String {
    case fetchAll = "fetch-all"
    case floorFetchAll = "floor-fetch-all"
    case insert
    case floorInsert = "floor-insert"
    case watch
    case uniquedOnce = "uniqued-once"
    case uniquedTwice = "uniqued-twice"
  }

  /// Starts a process that does the work on a file and returns its peak in bytes; nil where that
  /// cannot be measured.
  static func measure(_ work: Work, _ path: String) throws -> Int? {
    #if os(Linux)
      return try ChildProcess.numbers(["memory", work.rawValue, path]).first
    #else
      return nil
    #endif
  }

  /// The work of the started process: runs it, and prints its peak.
  static func runProcess(_ work: Work, _ path: String) throws {
    #if os(Linux)
      let (warmUp, body) = try Self.work(work, path)
      try warmUp()
      malloc_trim(0)
      try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
      let resident = try status("VmRSS:")
      let allocated = mallinfo2()
      try body()
      let after = mallinfo2()
      let peak = try status("VmHWM:")
      let live =
        Int(after.uordblks + after.hblkhd) - Int(allocated.uordblks + allocated.hblkhd)
      print(max(peak - resident, live))
    #else
      throw UsageError(description: "peak memory can be measured on Linux only")
    #endif
  }

  #if os(Linux)
    /// A line of this process's status file, in bytes.
    private static func status(_ name: String) throws -> Int {
      let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      for line in text.split(separator: "\n") where line.hasPrefix(name) {
        if let kilobytes = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst()
          .first,
          let count = Int(kilobytes)
        {
          return count * 1024
        }
      }
      throw FloorError(description: "/proc/self/status has no \(name)")
    }
  #endif
}
