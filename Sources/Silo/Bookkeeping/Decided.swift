// Decided: the ids about which something was decided while older versions had values left; see
// `Settlement`.

import Dflat

/// That something was decided about an id.
struct Decided<Value: Persistable>: Bookkeeping {
  var id: Value.ID
  /// The version of the type then. Values of older versions are outdated.
  var version = Value._canonical.version
  /// Versions before it in which something was decided about an id that was the same, but meant
  /// another value: steps between have given values other ids.
  var earlier: [Int] = []

  /// A decision by this version of the program.
  /// - Parameter before: What is noted about the id already.
  init(id: Value.ID, after before: Decided? = nil) {
    self.id = id
    if let before {
      earlier = before.versions.filter {
        $0 < version && !RetainedVersions.of(Value.self).keepsIDs(since: $0)
      }
    }
  }

  /// All versions in which something was decided about the id.
  var versions: [Int] { earlier + [version] }

  /// Whether a value with the id is outdated that came of one of an older version: the decision was
  /// made in a later one, whose ids mean the same as those of the type.
  func isNewer(than old: Int) -> Bool {
    versions.contains {
      $0 > old && $0 <= Value._canonical.version
        && RetainedVersions.of(Value.self).keepsIDs(since: $0)
    }
  }

  init(_reading reader: CanonicalReader) throws {
    id = try reader.read(id: 0)
    version = try reader.read(1, default: 0)
    earlier = try reader.read(2, default: [])
  }

  func _write(to writer: inout CanonicalWriter) {
    writer.write(id: id)
    writer.write(version)
    writer.write(earlier)
  }

  static var _canonical: CanonicalSchema {
    BookkeepingSchemas.schema(of: Self.self, beside: Value.self, "decided") {
      [
        CanonicalProperty("version", Int.self, default: 0),
        CanonicalProperty("earlier", [Int].self, default: []),
      ]
    }
  }
}
