// Checks of error messages: the problem, the place and the remedy.

import Foundation
public import Testing

/// An error, and words that its message must contain: the problem and the place.
public struct ErrorText {
  let error: any Error
  let words: [String]
  let isHelpless: Bool

  /// - Parameters:
  ///   - error: The error.
  ///   - words: Words that the message must contain.
  ///   - isHelpless: Whether no remedy is known.
  public init(_ error: any Error, _ words: String..., isHelpless: Bool = false) {
    self.error = error
    self.words = words
    self.isHelpless = isHelpless
  }

  /// Expects that all messages exist, agree with each other, and contain the words.
  public func check(sourceLocation: SourceLocation = #_sourceLocation) {
    let text = "\(error)"
    func expect(_ isRight: Bool, _ what: String) {
      #expect(isRight, "\(what): \(text)", sourceLocation: sourceLocation)
    }
    guard let localized = error as? any LocalizedError else {
      return expect(false, "no LocalizedError")
    }
    expect(localized.errorDescription == text, "errorDescription is another text")
    expect(error.localizedDescription == text, "localizedDescription is another text")
    for word in words { expect(text.contains(word), "\"\(word)\" is missing") }
    expect(text.first?.isWhitespace == false && !text.hasSuffix("."), "it is no such sentence")
    expect(!text.contains("Optional("), "it shows Swift")
    let advice = localized.recoverySuggestion ?? ""
    expect(isHelpless == advice.isEmpty, "what to do: \"\(advice)\"")
  }
}

/// The public error types that the sources of a module declare.
/// - Parameter room: The name of the directory in `Sources`.
public func publicErrorTypes(of room: String, file: String = #filePath) throws -> Set<String> {
  let root = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let directory = root.appendingPathComponent("Sources/\(room)")
  let declaration =
    #/public (?:struct|enum|final class) (\w+)(?:<[^>]*>)?\s*:[^{]*\b(?:Localized|Advised)?Error\b/#
  var types: Set<String> = []
  var isEmpty = true
  let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)
  while let file = files?.nextObject() as? URL {
    guard file.pathExtension == "swift" else { continue }
    isEmpty = false
    for match in try String(contentsOf: file, encoding: .utf8).matches(of: declaration) {
      types.insert(String(match.1))
    }
  }
  if isEmpty { throw CocoaError(.fileNoSuchFile) }
  return types
}
