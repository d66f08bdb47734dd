// Reading files.

import Foundation

/// Reads what compilers compile.
package enum FileContent {
  /// A file that cannot be read.
  package struct ReadError: Error {
    package var reason: String
  }

  /// The content of a regular file. Devices and pipes are refused: some of them never end.
  package static func read(_ path: String) -> Result<[UInt8], ReadError> {
    guard !path.utf8.contains(0) else {
      return .failure(ReadError(reason: "a path has no NUL in it"))
    }
    do {
      let resolved = URL(fileURLWithPath: path).resolvingSymlinksInPath()
      let attributes = try FileManager.default.attributesOfItem(atPath: resolved.path)
      guard attributes[.type] as? FileAttributeType == .typeRegular else {
        return .failure(ReadError(reason: "it is not a file"))
      }
      return .success([UInt8](try Data(contentsOf: resolved)))
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      return .failure(ReadError(reason: "it does not exist"))
    } catch {
      return .failure(ReadError(reason: error.localizedDescription))
    }
  }
}
