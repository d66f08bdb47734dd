// Fixtures: the canonical bytes of retained versions, as files that tests keep.
//
// A file has one line for the type and one for each value, in base64, so that a difference can be
// seen in a review.

public import Foundation
package import StandardConformances

/// Values whose canonical bytes differ from those in a fixture.
public struct FixtureMismatch: AdvisedError, Sendable {
  /// The file.
  public let path: String
  package let problem: String
  package let advice: String?

  init(
    _ url: URL, _ text: String,
    advice: String =
      "stored values would be misread, so restore the retained type, or make a new version"
  ) {
    path = url.path(percentEncoded: false)
    problem = "\(url.lastPathComponent): \(text)"
    self.advice = advice
  }
}

private func lines<V: Persistable>(_ values: [V]) -> [String] {
  let fields = V._canonical.entity.layout.properties.map { "\($0.name)@\($0.offset)" }
  return ["\(V._canonical.entity.table) \(fields.joined(separator: " "))"]
    + values.map { Canonical($0).toData().base64EncodedString() }
}

/// Writes the canonical bytes of values to a fixture file. Call it once for each version, and keep
/// the file.
///
/// - Parameters:
///   - values: Values with contents of every kind, made without random parts.
///   - url: The file. An existing file is not replaced.
/// - Throws: `FixtureMismatch` if the file exists; the errors of the file system.
public func writeFixture<V: Persistable>(_ values: [V], to url: URL) throws {
  if FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) {
    throw FixtureMismatch(
      url, "the fixture exists already, and is never made again",
      advice: "compare the values with it by expectFixture, or name another file")
  }
  let text = lines(values).joined(separator: "\n") + "\n"
  try text.write(to: url, atomically: true, encoding: .utf8)
}

/// Compares values with a fixture file: their bytes are the same, and the file's bytes are read as
/// these values.
///
/// - Parameters:
///   - values: The values with which the file was written.
///   - url: The file.
/// - Throws: `FixtureMismatch` for the first difference; the errors of the file system.
public func expectFixture<V: Persistable>(_ values: [V], at url: URL) throws {
  let stored = try String(contentsOf: url, encoding: .utf8)
    .split(whereSeparator: \.isNewline).map(String.init)
  let now = lines(values)
  if stored.first != now.first {
    throw FixtureMismatch(
      url, "the type was '\(stored.first ?? "")' and is '\(now.first ?? "")'")
  }
  if stored.count != now.count {
    throw FixtureMismatch(url, "it has \(stored.count - 1) values, not \(values.count)")
  }
  for (index, line) in stored.enumerated().dropFirst() {
    guard let data = Data(base64Encoded: line) else {
      throw FixtureMismatch(url, "line \(index + 1) is not base64")
    }
    let expected = Canonical(values[index - 1])
    do {
      let read = try Canonical(Canonical<V>(verifying: data).value())
      if read != expected {
        throw FixtureMismatch(url, "value \(index) is read as \(read) and not as \(expected)")
      }
    } catch let error as FixtureMismatch {
      throw error
    } catch {
      throw FixtureMismatch(url, "value \(index) cannot be read: \(error)")
    }
    if line != now[index] { throw FixtureMismatch(url, "value \(index) is written otherwise") }
  }
}
