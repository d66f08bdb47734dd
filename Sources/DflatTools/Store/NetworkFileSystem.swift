// Whether a file is on another machine's disk, where SQLite's locks may not work.

import Foundation
import Platform

enum NetworkFileSystem {
  /// The kind of file system that a file is on, if it is one of another machine.
  static func name(of path: String) -> String? {
    #if canImport(Darwin)
      var status = statfs()
      guard statfs(path, &status) == 0 else { return nil }
      return status.f_flags & UInt32(MNT_LOCAL) == 0 ? "it is not local" : nil
    #elseif os(Linux)
      var status = stat()
      guard stat(path, &status) == 0,
        let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
      else { return nil }
      let device = UInt64(status.st_dev)
      let major = device >> 8 & 0xFFF | device >> 32 & ~0xFFF
      let minor = device & 0xFF | device >> 12 & ~0xFF
      return name(of: "\(major):\(minor)", in: mounts)
    #else
      return nil
    #endif
  }

  /// - Parameter mounts: Lines of `/proc/self/mountinfo`: the third field is the device, and behind
  ///   ` - ` follows the kind.
  static func name(of device: String, in mounts: String) -> String? {
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 2, fields[2] == device, let dash = fields.lastIndex(of: "-"),
        dash + 1 < fields.count
      else { continue }
      let kind = String(fields[dash + 1])
      let networks = ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs"]
      return networks.contains(kind) ? kind : nil
    }
    return nil
  }
}
