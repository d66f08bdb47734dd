// Layouts: the binary structure of tables, structs, unions and enums.
//
// Generated code declares each layout once, as data. Verification, comparison, hashing, JSON,
// descriptions, index maintenance and conditions walk layouts; no other code knows where a field is
// stored.
//
//  - Properties are in declaration order. Deprecated ones are left out; their slots stay unused.
//  - An offset is a vtable offset (4 + 2 × slot) in a table and a byte offset in a struct. A union
//    has the offset of its value; the offset of its tag is two less.
//  - References to other layouts are closures, because schemas may be cyclic.

import Platform

/// One field of a table or struct.
public struct Property: Sendable {
  /// The type of a property.
  public indirect enum Kind: Sendable {
    /// `default` is nil for an optional scalar (`= null`).
    case scalar(ValueType, default: Value?)
    /// `default` is nil for an optional enum (`= null`).
    case enumeration(@Sendable () -> EnumLayout, default: Int64?)
    /// `default` is nil if absence means nil.
    case string(default: String?)
    case structure(@Sendable () -> StructLayout)
    case table(@Sendable () -> TableLayout)
    case union(@Sendable () -> UnionLayout)
    /// Defaults in the kind of an element have no meaning.
    case vector(Kind)
    /// In structs only.
    case array(Kind, count: Int)
  }

  /// The name in the schema.
  package let name: String
  /// The name in Swift.
  package let swiftName: String
  /// The vtable offset in a table, the byte offset in a fixed struct.
  package let offset: Int
  /// The type of the property.
  package let kind: Kind
  /// Whether verification requires the field.
  package let isRequired: Bool
  /// How the values, or the elements, are stored if their Swift type differs from the stored type.
  package let form: (any StoredForm.Type)?
  /// Whether the field is written even at its default or if it is empty. That is so for required
  /// fields and for the strings of a primary key, which upstream's readers expect to be present.
  var isAlwaysWritten: Bool
  /// Whether values differ as soon as their bits do, and an absent vector is nil instead of empty.
  /// Layouts of values in Swift ask for this: what is stored must come back.
  package private(set) var isExact = false

  /// Creates a property, for generated code.
  /// - Parameters:
  ///   - name: The name in the schema.
  ///   - offset: The offset of the property.
  ///   - kind: The type of the property.
  ///   - swiftName: The name in Swift, if it differs.
  ///   - required: Whether verification requires the field.
  ///   - form: How the values are stored if their Swift type differs from the stored type.
  public init(
    _ name: String, _ offset: Int, _ kind: Kind, swift swiftName: String? = nil,
    required: Bool = false, as form: (any StoredForm.Type)? = nil
  ) {
    self.name = name
    self.swiftName = swiftName ?? name
    self.offset = offset
    self.kind = kind
    self.isRequired = required
    self.form = form
    // A required union has no default that could be written: see `requiredUnions`.
    isAlwaysWritten = if case .union = kind { false } else { required }
  }

  /// The same property, told apart by its bits; see `isExact`.
  package var exact: Property {
    var property = self
    property.isExact = true
    return property
  }
}

/// The layout of a table.
public final class TableLayout: Sendable {
  /// The name in the schema, without namespace.
  package let name: String
  /// The name in Swift, without namespace.
  package let swiftName: String
  /// The schema's `v` attribute.
  package let version: String?
  /// The number of slots in the vtable, including deprecated ones and union tags.
  package let slotCount: Int
  /// The fields, in the order of the schema.
  package let properties: [Property]
  /// The plan, once it exists; the layout owns this reference. (`AtomicLazyReference` would do the
  /// same but costs six hundred instructions per load, since it is generic and compiled in another
  /// module.)
  private let madePlan = Atomic<Unmanaged<LayoutPlan>?>(nil)

  /// Creates a layout, for generated code.
  public init(
    _ name: String, swift swiftName: String? = nil, version: String? = nil, slots: Int,
    _ properties: [Property]
  ) {
    self.name = name
    self.swiftName = swiftName ?? name
    self.version = version
    self.slotCount = slots
    self.properties = properties
  }

  /// The property at a vtable offset.
  package func property(at offset: Int) -> Property? {
    properties.first { $0.offset == offset }
  }

  /// Whether all values come back as they were; see `Property.isExact`. Schemas name it `exact`.
  var isExact: Bool { !properties.isEmpty && properties.allSatisfy(\.isExact) }

  /// The same layout, except that the strings at these offsets are always written.
  func alwaysWritingStrings(at offsets: [Int]) -> TableLayout {
    let properties = properties.map { property in
      var property = property
      if case .string = property.kind, offsets.contains(property.offset) {
        property.isAlwaysWritten = true
      }
      return property
    }
    return TableLayout(name, swift: swiftName, version: version, slots: slotCount, properties)
  }

  /// The flattened layout. It is created at first use, because layouts that refer to each other may
  /// not all exist earlier.
  var plan: LayoutPlan { unretainedPlan.takeUnretainedValue() }

  /// The plan, unretained. It lives as long as the layout.
  @inline(__always)
  var unretainedPlan: Unmanaged<LayoutPlan> {
    madePlan.load(ordering: .acquiring) ?? makePlan()
  }

  /// If several threads create a plan, the first one is kept.
  private func makePlan() -> Unmanaged<LayoutPlan> {
    let plan = Unmanaged.passRetained(LayoutPlan(self))
    let (isKept, kept) = madePlan.compareExchange(
      expected: nil, desired: plan, ordering: .acquiringAndReleasing)
    guard !isKept, let kept else { return plan }
    plan.release()
    return kept
  }

  deinit {
    madePlan.load(ordering: .acquiring)?.release()
  }
}

/// The layout of a fixed struct.
public final class StructLayout: Sendable {
  /// The name in the schema.
  package let name: String
  /// The schema's `v` attribute.
  package let version: String?
  /// The size in bytes.
  @usableFromInline package let size: Int
  /// The alignment in bytes.
  @usableFromInline package let alignment: Int
  /// The fields, in the order of the schema.
  package let properties: [Property]

  /// Creates a layout, for generated code.
  public init(
    _ name: String, version: String? = nil, size: Int, alignment: Int, _ properties: [Property]
  ) {
    self.name = name
    self.version = version
    self.size = size
    self.alignment = alignment
    self.properties = properties
  }

  /// The property at a byte offset.
  package func property(at offset: Int) -> Property? {
    properties.first { $0.offset == offset }
  }
}

/// The members of a union.
public final class UnionLayout: Sendable {
  /// A member: its name in the schema, its tag, and its type, which is a table, struct or string.
  public struct Member: Sendable {
    /// The name in the schema.
    package let name: String
    /// The name of the case in Swift.
    package let swiftName: String
    /// The tag in the schema.
    package let tag: UInt8
    /// The type of the member's value.
    package let kind: Property.Kind

    /// Creates a member, for generated code.
    public init(
      _ name: String, _ tag: UInt8, _ kind: Property.Kind, swift swiftName: String? = nil
    ) {
      self.name = name
      self.swiftName = swiftName ?? name
      self.tag = tag
      self.kind = kind
    }
  }

  /// The name in the schema.
  package let name: String
  /// The members by tag, from 1 up.
  package let members: [Member]

  /// Creates a layout, for generated code.
  public init(_ name: String, _ members: [Member]) {
    self.name = name
    self.members = members
  }

  func member(_ tag: UInt8) -> Member? {
    let index = Int(tag) - 1
    if members.indices.contains(index), members[index].tag == tag { return members[index] }
    return members.first { $0.tag == tag }
  }
}

/// The values of an enum.
public final class EnumLayout: Sendable {
  /// The name in the schema.
  package let name: String
  /// The name in Swift.
  package let swiftName: String
  /// The underlying type.
  package let type: ValueType
  /// Whether every combination of bits is a value, not only the declared ones.
  package let isBitFlags: Bool
  /// Names in the schema and raw values (bit patterns for `ulong`), ordered by value.
  @usableFromInline package let values: [(name: String, value: Int64)]
  /// The names in Swift, in the order of `values`.
  package let cases: [String]
  /// The raw values, sorted as bit patterns.
  let known: [Int64]

  /// Creates a layout, for generated code.
  public init(
    _ name: String, swift swiftName: String? = nil, _ type: ValueType, bitFlags: Bool = false,
    _ values: [(name: String, value: Int64)], cases: [String]? = nil
  ) {
    self.name = name
    self.swiftName = swiftName ?? name
    self.cases = cases ?? values.map(\.name)
    self.type = type
    self.isBitFlags = bitFlags
    self.values = values
    self.known = values.map(\.value).sorted()
  }

  /// Whether this schema knows a stored raw value.
  func knows(_ raw: Int64) -> Bool {
    isBitFlags || known.contains(raw)
  }
}
