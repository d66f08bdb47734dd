// ProcessIdentity: which process has written something, and whether that process has ended.

import Foundation
import Platform

/// Names processes, on all machines. Only what is certain counts as ended: a process of another
/// machine, of a container or of another user may be running for all that is known.
enum ProcessIdentity {
  /// This process.
  static let current = text(machine, getpid())

  /// Whether the process with this text has certainly ended.
  static func hasEnded(_ text: String) -> Bool {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, !machine.isEmpty, parts[0] == machine, let id = pid_t(parts[1]), id > 0
    else { return false }
    if kill(id, 0) == -1 { return errno == ESRCH }
    // Another process may have got the number, and one that has ended may still have it.
    guard let start = start(of: id) else { return false }
    return start != parts[2]
  }

  private static func text(_ machine: String, _ id: pid_t) -> String {
    "\(machine) \(id) \(start(of: id) ?? "")"
  }

  #if canImport(Darwin)
    /// Since when the machine runs; empty if that cannot be told.
    private static let machine: String = {
      var size = 0
      guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0 else { return "" }
      var text = [UInt8](repeating: 0, count: size)
      guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return "" }
      return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
    }()

    private static func start(of id: pid_t) -> String? { nil }
  #else
    /// Since when the machine runs, and the container; empty if that cannot be told.
    private static let machine: String = {
      let boot = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      let space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
      guard let boot, let space else { return "" }
      return boot.trimmingCharacters(in: .whitespacesAndNewlines) + space
    }()

    /// When a process has started; empty if it has ended, and nil if that cannot be told.
    private static func start(of id: pid_t) -> String? {
      guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
        // The name of the program stands in parentheses, and may contain any character.
        let end = text.lastIndex(of: ")")
      else { return nil }
      let fields = text[text.index(after: end)...].split(separator: " ")
      guard fields.count > 19 else { return nil }
      // The first thread may have ended without the others.
      let hasThreads = !["Z", "X"].contains(fields[0]) || Int(fields[17]) ?? 0 > 1
      return hasThreads ? String(fields[19]) : ""
    }
  #endif
}
