// posts [--into DIRECTORY] [FILE]: Dflat at work, first on five posts, then with a later version of their schema, then on the package
// database of this machine.

import Foundation
import PackageStore
import Upgraded

@main struct Main {
  static func main() async {
    do {
      var arguments = CommandLine.arguments.dropFirst()
      var directory = FileManager.default.temporaryDirectory.appending(
        path: "dflat-posts-\(UUID().uuidString)")
      if arguments.first == "--into", arguments.count >= 2 {
        directory = URL(filePath: arguments.dropFirst().first ?? "")
        arguments = arguments.dropFirst(2)
      }
      guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else {
        throw Failure("usage: posts [--into DIRECTORY] [FILE in the format of dpkg's status]")
      }
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)

      print("# Thirty seconds: five posts\n")
      let posts = try freshDatabase("posts.db", in: directory)
      try await thirtySeconds(path: posts)

      print("\n# After an upgrade: the same file\n")
      try await afterUpgrade(path: posts)

      print("\n# The packages of a machine\n")
      let file = arguments.first ?? "/var/lib/dpkg/status"
      try await packages(from: file, into: try freshDatabase("packages.db", in: directory))
    } catch {
      FileHandle.standardError.write(Data("posts: \(error)\n".utf8))
      exit(1)
    }
  }

  /// A path at which no earlier run has left anything.
  static func freshDatabase(_ name: String, in directory: URL) throws -> String {
    let path = directory.appending(path: name).path
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
    return path
  }
}
