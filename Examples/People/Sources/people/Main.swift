// people [--into DIRECTORY] [FILE]: Empire at work, first on three people, then on the installed packages of this machine, or of another
// file in the format of dpkg's status.

import Empire
import Foundation

/// A package by the section that it belongs to.
@IndexKeyRecord("section", "name")
struct Package {
  let section: String
  let name: String
  var version: String
  /// In kilobytes.
  var size: Int
}

/// The same by size, so that the largest ones are found without reading the others.
@IndexKeyRecord("size", "name")
struct PackageBySize {
  let size: Int
  let name: String
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

@main struct Main {
  static func main() async {
    do {
      var arguments = CommandLine.arguments.dropFirst()
      var directory = FileManager.default.temporaryDirectory.appending(
        path: "empire-people-\(UUID().uuidString)")
      if arguments.first == "--into", let path = arguments.dropFirst().first {
        directory = URL(filePath: path)
        arguments = arguments.dropFirst(2)
      }
      guard arguments.count <= 1, arguments.first?.hasPrefix("-") != true else {
        throw Failure(
          description: "usage: people [--into DIRECTORY] [FILE in the format of dpkg's status]")
      }
      print("# Three people\n")
      try firstLook(directory: try freshDirectory("people", in: directory))
      print("\n# The packages of a machine\n")
      try await packages(
        from: arguments.first ?? "/var/lib/dpkg/status",
        into: try freshDirectory("packages", in: directory))
    } catch {
      FileHandle.standardError.write(Data("people: \(error)\n".utf8))
      exit(1)
    }
  }

  /// A directory in which no earlier run has left anything.
  private static func freshDirectory(_ name: String, in directory: URL) throws -> String {
    let url = directory.appending(path: name)
    if FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
      try FileManager.default.removeItem(at: url)
    }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url.path(percentEncoded: false)
  }

  private static func packages(from path: String, into directory: String) async throws {
    let packages = try read(path)
    let store = try BackgroundStore(path: directory)
    let clock = ContinuousClock()

    // One durable transaction for each package, all at once: those that wait share a commit.
    let importing = try await clock.measure {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for package in packages {
          group.addTask {
            try await store.withTransaction { context in
              try context.insert(package)
              try context.insert(PackageBySize(size: package.size, name: package.name))
            }
          }
        }
        try await group.waitForAll()
      }
    }
    print("\(packages.count) packages, a durable transaction for each: \(importing)")

    try await store.withTransaction(readOnly: true) { context in
      let libraries = try Package.select(in: context, section: "libs")
      print("in the section libs:", libraries.count)
      let range = try Package.select(
        in: context, section: "libs", name: .closedRange("liba"..."libc"))
      print("of them from liba to libc:", range.map(\.name).joined(separator: ", "))
      let largest = try PackageBySize.select(in: context, limit: 5, size: .lessThan(.max))
      print("largest:", largest.map { "\($0.name) \($0.size / 1024) MB" }.joined(separator: ", "))
    }
  }

  /// The packages of a file in the format of dpkg's status that have a name, a section and a version.
  private static func read(_ path: String) throws -> [Package] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    var packages: [Package] = []
    for stanza in text.split(separator: "\n\n") {
      var fields: [Substring: String] = [:]
      for line in stanza.split(separator: "\n") where line.first?.isWhitespace == false {
        guard let colon = line.firstIndex(of: ":") else { continue }
        fields[line[..<colon]] = line[line.index(after: colon)...]
          .trimmingCharacters(in: .whitespaces)
      }
      guard let name = fields["Package"], let version = fields["Version"] else { continue }
      packages.append(
        Package(
          section: fields["Section"] ?? "", name: name, version: version,
          size: Int(fields["Installed-Size"] ?? "") ?? 0))
    }
    return packages
  }
}
