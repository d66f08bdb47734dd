// Neighbours: schemas that are not included but may declare a missing name.

import Foundation

/// Files that a schema could include.
struct Neighbours {
  private let files: [String]
  private let includePaths: [String]

  /// - Parameters:
  ///   - files: Their paths. They are read only when a name is missing.
  ///   - includePaths: Directories to search for included files, after the directory of the
  ///     including file.
  init(files: [String] = [], includePaths: [String] = []) {
    self.files = files
    self.includePaths = includePaths
  }

  /// The text to write for a type that a neighbour declares; nil if none does.
  ///
  /// - Parameters:
  ///   - path: The name as used.
  ///   - namespace: The namespace in which it is used.
  ///   - includer: The file that uses it.
  func hint(
    at path: [String], in namespace: [String], from includer: String
  ) -> Diagnostic? {
    let wanted = path.joined(separator: ".")
    // From the innermost namespace outwards; last those whose namespace must be written.
    let names =
      namespace.indices.reversed().map { namespace[...$0].joined(separator: ".") + "." }
      .map { $0 + wanted } + [wanted]
    let found = files.lazy.flatMap { file in
      (SchemaOutline(file: file)?.declarations ?? []).map { (file: file, name: $0.name) }
    }.filter { $0.name.name == path.last && !Self.isSame($0.file, includer) }
    let declared = Array(found)
    guard
      let best = names.lazy.compactMap({ name in declared.first { $0.name.description == name } })
        .first ?? declared.first
    else { return nil }
    let include = "write 'include \"\(place(of: best.file, from: includer))\";' at the top"
    return .hint(
      names.contains(best.name.description)
        ? "it is declared in \(best.file): \(include)"
        : "'\(best.name)' is declared in \(best.file): \(include), and its name in full")
  }

  /// The path for including a file: relative to the includer's directory or an include directory,
  /// as short as possible.
  private func place(of file: String, from includer: String) -> String {
    let path = Self.standardized(file)
    let directories =
      [(includer as NSString).deletingLastPathComponent] + includePaths
    let places = directories.map { Self.standardized($0.isEmpty ? "." : $0) + "/" }
      .filter { path.hasPrefix($0) }
      .map { String(path.dropFirst($0.count)) }
    return places.min { $0.count < $1.count } ?? path
  }

  private static func isSame(_ a: String, _ b: String) -> Bool {
    standardized(a) == standardized(b)
  }

  private static func standardized(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
  }
}
