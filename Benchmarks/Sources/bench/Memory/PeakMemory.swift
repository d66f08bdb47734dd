// PeakMemory: how much memory a piece of work needs at most, in a process of its own.
//
// A process that has run other cases has free memory lying about that would hide what is used, so the program starts itself
// again for each measurement: `bench memory WORK FILE`. There:
//
//  - the work is warmed up first: files are open, statements prepared, SQLite's page cache is full;
//  - free memory is handed back to the system, and the kernel's high-water mark of resident memory is set to where it is;
//  - after the work the answer is the mark minus what was resident before, or what malloc has handed out more than before,
//    if that is larger. The first counts allocators' overhead too; the second what came from pages that were there already.
//
// The kernel's mark can be reset on Linux only; elsewhere there is no answer.

import CLinux
import Foundation

enum PeakMemory {
  /// The kinds of work that a process can be started for.
  enum Work: String {
    case fetchAll = "fetch-all"
    case floorFetchAll = "floor-fetch-all"
    case insert
    case floorInsert = "floor-insert"
    case watch
  }

  /// Starts a process that does the work on a file and returns its peak in bytes; nil where that cannot be told.
  static func measure(_ work: Work, _ path: String) throws -> Int? {
    #if os(Linux)
      return try Child.numbers(["memory", work.rawValue, path]).first
    #else
      return nil
    #endif
  }

  /// What the started process does: the work, and its peak printed.
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
    /// A line of this process's status, in bytes.
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
