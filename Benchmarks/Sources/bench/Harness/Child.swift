// Child: a process that the program starts from its own executable, for measurements that need a
// process of their own.
//
//    bench memory WORK FILE     prints the peak memory of a piece of work; see PeakMemory
//    bench open SIDE FILE       prints the time from opening a file to the first objects; see
//                               Opening
//    bench screen SIDE FILE     prints the time until the first screen; see FirstScreen
//    bench commit FILE          commits a change for each line that it reads; see OtherProcess
//    bench defaults SIDE COUNT  prints the time of `fetch-under-write` with SQLite's default
//                               settings

import Foundation

enum Child {
  case memory(PeakMemory.Work, String)
  case open(Opening.Side, String)
  case screen(Opening.Side, String)
  case commit(String)
  case defaults(Opening.Side, objects: Int)

  /// nil if the arguments do not request a child.
  init?(_ arguments: [String]) throws {
    guard let name = arguments.first,
      ["memory", "open", "screen", "commit", "defaults"].contains(name)
    else { return nil }
    switch (name, arguments.count) {
    case ("memory", 3):
      guard let work = PeakMemory.Work(rawValue: arguments[1]) else { fallthrough }
      self = .memory(work, arguments[2])
    case ("open", 3):
      guard let side = Opening.Side(rawValue: arguments[1]) else { fallthrough }
      self = .open(side, arguments[2])
    case ("screen", 3):
      guard let side = Opening.Side(rawValue: arguments[1]) else { fallthrough }
      self = .screen(side, arguments[2])
    case ("commit", 2): self = .commit(arguments[1])
    case ("defaults", 3):
      guard let side = Opening.Side(rawValue: arguments[1]), let objects = Int(arguments[2]) else {
        fallthrough
      }
      self = .defaults(side, objects: objects)
    default:
      throw UsageError(
        description:
          "usage: bench memory WORK FILE | open SIDE FILE | screen SIDE FILE | commit FILE | "
          + "defaults SIDE COUNT")
    }
  }

  /// Whether SQLite's process-wide settings stay at their defaults.
  var keepsDefaults: Bool {
    if case .defaults = self { true } else { false }
  }

  /// Does the work that the process was started for.
  func run() throws {
    switch self {
    case .memory(let work, let path): try PeakMemory.runProcess(work, path)
    case .open(let side, let path): try Opening.runProcess(side, path)
    case .screen(let side, let path): try FirstScreen.runProcess(side, path)
    case .commit(let path): try OtherProcess.runProcess(path)
    case .defaults(let side, let objects): try FetchUnderWriteProcess.run(side, objects)
    }
  }
}
