// UnfinishedFile: the name of a file while it is being written, beside the place where it will be.
//
//  - The name begins with that of the place, shortened so that every place has such a name, and no
//    other file has it.
//  - A process that is killed leaves the file. The next one that writes to the same place removes
//    it, if no living process writes such a file in the directory: each holds a shared lock of the
//    directory, which ends with the process.

/// A name for a file that is not whole yet. Used by one thread.
package final class UnfinishedFile {
  /// The path. Nothing is there yet.
  package let path: String
  /// The directory, which is locked; -1 if it cannot be.
  private let directory: Int32

  /// How long the part of the name is that comes from the place. What SQLite appends to the whole
  /// name fits into the 255 bytes that file systems allow.
  private static let greatestPrefix = 180
  private static let digits = 16
  /// What SQLite leaves beside a file.
  private static let suffixes = ["", "-journal"]

  /// Removes what killed processes have left for the same place.
  /// - Parameter place: Where the file will be.
  package init(for place: String) {
    let slash = place.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = slash.map { place[place.utf8.index(after: $0)...] } ?? place[...]
    let folder = slash.map { place[...$0] } ?? ""
    let prefix = Self.prefix(of: name)
    let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
    path =
      folder + prefix + String(repeating: "0", count: Self.digits - digits.utf8.count) + digits
    directory = open(folder.isEmpty ? "." : String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory < 0 { return }
    if flock(directory, LOCK_EX | LOCK_NB) == 0 {
      Self.removeAll(beginningWith: prefix, in: folder.isEmpty ? "./" : String(folder))
    }
    // Another process has it exclusively only while it removes files.
    for _ in 0..<1000 {
      if flock(directory, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK { return }
      usleep(1000)
    }
  }

  deinit { if directory >= 0 { close(directory) } }

  /// Removes the file, and what SQLite has left beside it.
  package func remove() {
    for suffix in Self.suffixes { unlink(path + suffix) }
  }

  private static func prefix(of name: Substring) -> String {
    var name = name
    while name.utf8.count > greatestPrefix { name.removeLast() }
    return name + ".unfinished-"
  }

  private static func removeAll(beginningWith prefix: String, in folder: String) {
    guard let entries = opendir(folder) else { return }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
      }
      if isLeftover(name, prefix) { names.append(name) }
    }
    for name in names { unlink(folder + name) }
  }

  private static func isLeftover(_ name: String, _ prefix: String) -> Bool {
    guard name.hasPrefix(prefix) else { return false }
    let rest = name.dropFirst(prefix.count)
    return suffixes.contains { rest.dropFirst(digits) == $0 }
      && rest.prefix(digits).utf8.allSatisfy { digit in
        (0x30...0x39).contains(digit) || (0x61...0x66).contains(digit)
      } && rest.utf8.count >= digits
  }
}
