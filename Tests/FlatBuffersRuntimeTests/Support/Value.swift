// Values of a layout, compared by content, and random ones for property tests.

enum Value: Equatable {
  case bool(Bool)
  case int(Int64)
  case uint(UInt64)
  /// The bits of a Double; all NaNs are equal.
  case floatBits(UInt64)
  case string(String)
  /// The fields of a table or the members of a struct, in the layout's order; nil is absent.
  case record([Value?])
  case vector([Value])
  /// Type 0 with an empty record is the empty element of a vector of unions.
  indirect case union(type: Int, Value)

  static func float(_ value: Double) -> Value {
    .floatBits(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
  }
}

/// A random number generator with the same sequence for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  var makesNegativeZero = true

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int(truncatingIfNeeded: next() >> 33) % bound }

  mutating func chance(_ one: Int, in many: Int) -> Bool { below(many) < one }
}

extension SeededGenerator {
  /// A random table. `depth` limits the nesting below it.
  mutating func table(_ layout: TableLayout, depth: Int) -> Value {
    .record(
      layout.fields.map { field in
        if !field.isRequired, chance(1, in: 3) { return field.default }
        switch field.kind {
        case .table where depth == 0, .union where depth == 0: return nil
        default: return value(field.kind, depth: depth)
        }
      })
  }

  mutating func value(_ kind: Kind, depth: Int) -> Value {
    switch kind {
    case .scalar(let kind): return scalar(kind)
    case .string: return .string(string())
    case .structure(let layout):
      return .record(layout.members.map { value($0.kind, depth: depth) })
    case .table(let layout): return table(layout, depth: depth - 1)
    case .array(let kind, let count):
      return .vector((0..<count).map { _ in value(kind, depth: depth) })
    case .vector(.table) where depth == 0, .unionVector where depth == 0: return .vector([])
    case .vector(let kind):
      return .vector((0..<count()).map { _ in value(kind, depth: depth) })
    case .union(let layout): return union(layout, depth: depth)
    case .unionVector(let layout):
      return .vector((0..<count()).map { _ in union(layout, depth: depth) })
    }
  }

  private mutating func union(_ layout: UnionLayout, depth: Int) -> Value {
    let member = below(layout.members.count)
    return .union(type: member + 1, value(layout.members[member].kind, depth: depth))
  }

  private mutating func count() -> Int { chance(1, in: 40) ? below(40) : below(4) }

  private mutating func scalar(_ kind: ScalarKind) -> Value {
    // Often small or extreme, because mistakes occur at defaults and limits.
    let bits = chance(1, in: 4) ? UInt64(below(3)) : chance(1, in: 8) ? .max : next()
    switch kind {
    case .bool: return .bool(bits & 1 == 1)
    case .int8: return .int(Int64(Int8(truncatingIfNeeded: bits)))
    case .int16: return .int(Int64(Int16(truncatingIfNeeded: bits)))
    case .int32: return .int(Int64(Int32(truncatingIfNeeded: bits)))
    case .int64: return .int(Int64(bitPattern: bits))
    case .uint8: return .uint(UInt64(UInt8(truncatingIfNeeded: bits)))
    case .uint16: return .uint(UInt64(UInt16(truncatingIfNeeded: bits)))
    case .uint32: return .uint(UInt64(UInt32(truncatingIfNeeded: bits)))
    case .uint64: return .uint(bits)
    // Multiples of 1/64 in a range that both widths can represent: flatc prints them exactly.
    case .float, .double:
      switch below(20) {
      case 0 where makesNegativeZero: return .float(-0.0)
      case 1: return .float(.infinity)
      case 2: return .float(-.infinity)
      case 3: return .float(.nan)
      default: return .float(Double(below(1 << 22) - (1 << 21)) / 64)
      }
    }
  }

  private mutating func string() -> String {
    if chance(1, in: 6) { return "" }
    let pieces = [
      "a", "Zebra", " ", "\"", "\\", "\n", "\u{1}", "\u{7F}", "é", "ž", "日本", "🐎", "/", "\u{FFFF}",
    ]
    return (0..<count() + 1).map { _ in pieces[below(pieces.count)] }.joined()
  }
}
