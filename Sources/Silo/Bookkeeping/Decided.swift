// Decided: the ids about which something was decided while older versions had values left; see
// `Settlement`.

import Dflat

/// That something was decided about an id.
struct Decided<Value: Persistable>: Bookkeeping {
  var id: Value.ID
  /// The version of the type then. Values of older versions are outdated.
  var version = Value._canonical.version

  init(id: Value.ID) { self.id = id }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    version = try reader.read(1, default: 0)
  }

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(version)
  }

  static var _canonical: CanonicalSchema {
    BookkeepingSchemas.schema(of: Self.self, beside: Value.self, "decided") {
      [CanonicalProperty("version", Int.self, default: 0)]
    }
  }
}
