// LogReaders: the processes that read a state of the log.
//
// SQLite's readers lock a byte of the `-shm` file, one of those from 123 on (os_unix.c,
// UNIX_SHM_BASE; wal.c, WAL_READ_LOCK). The first one belongs to readers that need nothing of the
// log. Linux lists all locks with their processes in /proc/locks. Other systems name a process only
// to a caller that asks for a lock by a descriptor of the file, and closing that would release the
// locks of this process: there no process is named.

import Platform

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

enum LogReaders {
  private static let readLocks = 124...127

  /// The processes with a lock, each once; this one, too.
  static func processes(ofFile path: String) -> [Int32] {
    #if os(Linux)
      var file = stat()
      guard stat(FileReplacement.path(of: "-shm", beside: path), &file) == 0,
        let locks = text("/proc/locks")
      else { return [] }
      var found: Set<Int32> = []
      for line in locks.split(separator: "\n") {
        // 1: POSIX  ADVISORY  READ 12345 00:2d:131 124 124
        let fields = line.split(separator: " ")
        guard fields.count >= 8, fields[1] == "POSIX", let process = Int32(fields[4]),
          isFile(fields[5], file), let start = Int(fields[6])
        else { continue }
        let end = Int(fields[7]) ?? .max
        if start <= readLocks.upperBound, end >= readLocks.lowerBound { found.insert(process) }
      }
      return found.sorted()
    #else
      return []
    #endif
  }

  /// The name of the program that a process runs.
  static func program(of process: Int32) -> String? {
    text("/proc/\(process)/comm").map { String($0.prefix { $0 != "\n" }) }
  }

  #if os(Linux)
    /// Whether `major:minor:inode`, the first two in hexadecimal digits, is a file.
    private static func isFile(_ name: Substring, _ file: stat) -> Bool {
      let parts = name.split(separator: ":")
      guard parts.count == 3, let inode = UInt64(parts[2]), inode == UInt64(file.st_ino),
        let major = UInt64(parts[0], radix: 16), let minor = UInt64(parts[1], radix: 16)
      else { return false }
      // As in makedev(3).
      let device = UInt64(file.st_dev)
      return major == (device >> 8 & 0xFFF | device >> 32 & 0xFFFF_F000)
        && minor == (device & 0xFF | device >> 12 & 0xFFFF_FF00)
    }
  #endif

  private static func text(_ path: String) -> String? {
    try? String(contentsOfFile: path, encoding: .utf8)
  }
}
