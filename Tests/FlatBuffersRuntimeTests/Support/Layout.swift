// Layouts: schemas as plain data, so that tests can encode, decode, verify and print any value of
// them.
//
// They are written by hand beside the schema texts for flatc (Schemas.swift), so that a wrong slot,
// offset or default appears as a disagreement with flatc.

enum ScalarKind: CaseIterable {
  case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double

  var size: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double: 8
    }
  }
}

indirect enum Kind {
  case scalar(ScalarKind)
  case string
  case structure(StructLayout)
  case table(TableLayout)
  case vector(Kind)
  case union(UnionLayout)
  case unionVector(UnionLayout)
  /// A fixed array, in structs only.
  case array(Kind, count: Int)

  /// The size of the inline value in bytes.
  var size: Int {
    switch self {
    case .scalar(let kind): kind.size
    case .structure(let layout): layout.size
    case .array(let kind, let count): kind.size * count
    default: 4
    }
  }

  var alignment: Int {
    switch self {
    case .structure(let layout): layout.alignment
    case .array(let kind, _): kind.alignment
    default: size
    }
  }
}

struct StructLayout {
  struct Member {
    let name: String
    let offset: Int
    let kind: Kind
  }

  let name: String
  let size: Int
  let alignment: Int
  let members: [Member]

  init(_ name: String, size: Int, alignment: Int, _ members: [(String, Int, Kind)]) {
    self.name = name
    self.size = size
    self.alignment = alignment
    self.members = members.map { Member(name: $0.0, offset: $0.1, kind: $0.2) }
  }
}

final class TableLayout {
  struct Field {
    let name: String
    let slot: Int
    let kind: Kind
    /// A scalar's default; nil for an optional scalar and for other types.
    let `default`: Value?
    let isRequired: Bool

    /// The vtable offset. A union's type is in the slot before its value.
    var offset: Int { 4 + 2 * slot }

    init(
      _ name: String, _ slot: Int, _ kind: Kind, default: Value? = nil, required: Bool = false
    ) {
      self.name = name
      self.slot = slot
      self.kind = kind
      self.default = `default`
      self.isRequired = required
    }
  }

  let name: String
  /// Set once after creation, because tables may refer to themselves.
  var fields: [Field]
  var slotCount: Int { (fields.map(\.slot).max() ?? -1) + 1 }

  init(_ name: String, _ fields: [Field] = []) {
    self.name = name
    self.fields = fields
  }
}

struct UnionLayout {
  /// Member names as flatc prints them; the type of a member is its index plus one.
  let members: [(name: String, kind: Kind)]
}
