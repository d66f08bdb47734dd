// Encoding drafts: the name of the table and the bytes of both objects.
//
// The bytes are FlatBuffers, so a program with an older or newer schema of the same table can read
// them, and keeps content of fields that it does not know. Row ids are not encoded: the bytes may
// be decoded by a program that uses another file.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Draft: Codable {
  private enum CodingKeys: String, CodingKey {
    case table, base, object
  }

  /// Encodes both objects.
  ///
  /// A draft that is decoded belongs to the stored object with the primary key of its base, whether
  /// or not the base was fetched.
  /// - Throws: `EncodingError` if a value of the draft does not fit its field.
  public func encode(to encoder: any Encoder) throws {
    try base.requireFit(encoder.codingPath)
    try object.requireFit(encoder.codingPath)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Element._schema.table, forKey: .table)
    try container.encode(base.toData(), forKey: .base)
    if hasChanges { try container.encode(object.toData(), forKey: .object) }
  }

  /// Decodes a draft that a program with this or another version of the schema has encoded.
  /// - Throws: ``SavedObjectsError`` if the draft belongs to another table, or its bytes are no
  ///   objects; `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let schema = Element._schema
    let table = try container.decode(String.self, forKey: .table)
    if table != schema.table {
      throw SavedObjectsError.otherTable(expected: schema.table, found: table)
    }
    func object(_ data: Data) throws -> Element {
      Element(_row: try ContiguousArray(data).withUnsafeBytes { try schema.savedRow($0) })
    }
    self.init(try object(container.decode(Data.self, forKey: .base)))
    if let changed = try container.decodeIfPresent(Data.self, forKey: .object) {
      self.object = try object(changed)
    }
  }
}
