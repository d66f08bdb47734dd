// OutputDirectory: where generated files go.
//
// Files are replaced as a whole, and only if their text differs, so that build systems see no
// unnecessary changes.

import Foundation

/// A directory or file that could not be written.
struct OutputError: Error {
  let message: String
}

struct OutputDirectory {
  private let url: URL

  /// Creates the directory unless it exists.
  init(_ path: String) throws(OutputError) {
    url = URL(filePath: path, directoryHint: .isDirectory)
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw OutputError(
        message: "cannot make the output directory '\(path)': \(Self.reason(error))")
    }
  }

  /// Writes a file unless it has this text already.
  func write(_ file: GeneratedFile) throws(OutputError) {
    let target = url.appending(path: file.name)
    let text = Data(file.text.utf8)
    // A file that cannot be read is treated as missing; writing then reports what is wrong.
    if let old = try? Data(contentsOf: target), old == text { return }
    do {
      try text.write(to: target, options: .atomic)
    } catch {
      throw OutputError(
        message: "cannot write '\(target.relativePath)': \(Self.reason(error))")
    }
  }

  private static func reason(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    if let underlying, underlying.domain == NSPOSIXErrorDomain {
      return String(cString: strerror(Int32(underlying.code)))
    }
    return error.localizedDescription
  }
}
