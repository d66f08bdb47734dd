// GraphQLUpload: files among the variables of an operation, by the GraphQL multipart request
// specification (github.com/jaydenseric/graphql-multipart-request-spec).
//
// The variables have null where a file belongs. The form has the fields `operations` and `map`, and
// then the files; `map` says to which variables each belongs.

public import Foundation
import Platform

/// A file that is sent as a variable.
///
/// Map the scalar of the schema to this type, `"scalars": {"Upload": "GraphQLUpload"}`. Then
/// ``GraphQLOperation/httpRequest(accept:extensions:)`` makes a form with the files.
public struct GraphQLUpload: Hashable, Sendable {
  /// The file's name, as the server sees it.
  public var name: String
  /// The type of the content, such as `image/png`.
  public var contentType: String
  /// The content.
  public var content: Foundation.Data

  /// Creates a file.
  public init(
    name: String, contentType: String = "application/octet-stream", content: Foundation.Data
  ) {
    self.name = name
    self.contentType = contentType
    self.content = content
  }
}

extension GraphQLUpload: Codable {
  /// Throws: a response has no files.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "a response cannot have a file"))
  }

  /// Encodes null; the file is sent beside the variables.
  /// - Throws: `EncodingError` if the variables are encoded for something else than a form.
  public func encode(to encoder: any Encoder) throws {
    guard let collector = encoder.userInfo[UploadCollector.key] as? UploadCollector else {
      throw EncodingError.invalidValue(
        self,
        .init(
          codingPath: encoder.codingPath,
          debugDescription: "a file is sent in a form: use httpRequest(accept:extensions:)"))
    }
    collector.add(self, at: encoder.codingPath)
    var container = encoder.singleValueContainer()
    try container.encodeNil()
  }
}

/// The files that are met while an operation is encoded.
final class UploadCollector: Sendable {
  static let key = CodingUserInfoKey(rawValue: "dev.dflat.graphql.uploads")!

  private let uploads = Mutex<[(upload: GraphQLUpload, path: String)]>([])

  func add(_ upload: GraphQLUpload, at path: [any CodingKey]) {
    let steps: [String] = path.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }
    let text = steps.joined(separator: ".")
    uploads.withLock { $0.append((upload, text)) }
  }

  /// The form; nil if there are no files.
  func form(operations: Foundation.Data) throws -> (body: Foundation.Data, contentType: String)? {
    let uploads = uploads.withLock { $0 }
    if uploads.isEmpty { return nil }
    // The same file in several variables is sent once.
    var files: [(upload: GraphQLUpload, paths: [String])] = []
    var numbers: [GraphQLUpload: Int] = [:]
    for (upload, path) in uploads {
      if let number = numbers[upload] {
        files[number].paths.append(path)
      } else {
        numbers[upload] = files.count
        files.append((upload, [path]))
      }
    }
    let map = Dictionary(
      uniqueKeysWithValues: files.enumerated().map { ("\($0.offset)", $0.element.paths) })
    let boundary = Self.boundary(avoiding: [operations] + files.map(\.upload.content))
    var body = Foundation.Data()
    func add(_ disposition: String, type: String? = nil, _ content: Foundation.Data) {
      body += Foundation.Data("--\(boundary)\r\n".utf8)
      body += Foundation.Data("Content-Disposition: form-data; \(disposition)\r\n".utf8)
      if let type { body += Foundation.Data("Content-Type: \(type)\r\n".utf8) }
      body += Foundation.Data("\r\n".utf8) + content + Foundation.Data("\r\n".utf8)
    }
    add("name=\"operations\"", operations)
    add("name=\"map\"", try JSONEncoder.graphQL.encode(map))
    for (number, file) in files.enumerated() {
      add(
        "name=\"\(number)\"; filename=\"\(Self.quoted(file.upload.name))\"",
        type: file.upload.contentType.filter { !$0.isNewline }, file.upload.content)
    }
    body += Foundation.Data("--\(boundary)--\r\n".utf8)
    return (body, "multipart/form-data; boundary=\(boundary)")
  }

  /// The content of a quoted name, as browsers write it.
  private static func quoted(_ name: String) -> String {
    var quoted = ""
    for character in name.unicodeScalars {
      switch character {
      case "\"": quoted += "%22"
      case "\r": quoted += "%0D"
      case "\n": quoted += "%0A"
      default: quoted.unicodeScalars.append(character)
      }
    }
    return quoted
  }

  /// A text that none of the contents has. Equal requests have equal bytes.
  private static func boundary(avoiding contents: [Foundation.Data]) -> String {
    var number = 0
    while true {
      let boundary = "dflat-form-\(number)"
      let bytes = Foundation.Data(boundary.utf8)
      if contents.allSatisfy({ $0.range(of: bytes) == nil }) { return boundary }
      number += 1
    }
  }
}
