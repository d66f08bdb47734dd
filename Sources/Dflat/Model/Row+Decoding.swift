// Rows from other forms: the fields by the schema's names.

import FlatBuffersRuntime

extension Row {
  /// Decodes the fields of a new object by the schema's names. Missing fields have their defaults,
  /// but primary keys are required.
  package init(from decoder: any Decoder, of schema: EntitySchema) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    for field in schema.primaryKey {
      guard let name = schema.layout.property(storedAs: field)?.name else { continue }
      if container.contains(AnyKey(name)), try !container.decodeNil(forKey: AnyKey(name)) {
        continue
      }
      throw DecodingError.keyNotFound(
        AnyKey(name),
        DecodingError.Context(
          codingPath: container.codingPath,
          debugDescription: "\(schema.layout.name) has the primary key \(name)"))
    }
    self = try BuilderPool.withBuilder { builder in
      builder.finish(try schema.layout.decode(from: decoder, to: builder))
      try builder.requireFit(decoder)
      return Row(built: builder.bytes, mark: .built, refusal: nil)
    }
  }
}
