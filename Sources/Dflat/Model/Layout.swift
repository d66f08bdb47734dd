// Layouts: the shape of the bytes of tables, structs, unions and enums.
//
// Generated code states each layout once, as data. Verification, comparison, hashing, JSON, descriptions, index
// maintenance and conditions walk layouts; nothing else knows where a field lies.
//
//  - Properties are in declaration order; deprecated ones are left out (their slots stay unused).
//  - An offset is a vtable offset (4 + 2 × slot) in a table and a byte offset in a struct. A union has the offset of its
//    value; the tag's is two less.
//  - References to other layouts are closures, because schemas may be circular.

import Platform

/// One field of a table or struct.
public struct Property: Sendable {
  /// What a property holds.
  public indirect enum Kind: Sendable {
    /// `default` is nil for an optional scalar (`= null`).
    case scalar(ValueType, default: Value?)
    /// `default` is nil for an optional enum (`= null`).
    case enumeration(@Sendable () -> EnumLayout, default: Int64?)
    /// `default` is nil where absence means nil.
    case string(default: String?)
    case structure(@Sendable () -> StructLayout)
    case table(@Sendable () -> TableLayout)
    case union(@Sendable () -> UnionLayout)
    /// Defaults inside an element's kind mean nothing.
    case vector(Kind)
    /// Only in structs.
    case array(Kind, count: Int)
  }

  /// The name in the schema.
  public let name: String
  /// The name in Swift.
  public let swiftName: String
  /// The vtable offset in a table, the byte offset in a fixed struct.
  public let offset: Int
  /// What is stored there.
  public let kind: Kind
  /// Whether verification wants it to be there.
  public let isRequired: Bool
  /// How its values, or its elements, are stored, if they have another type in Swift.
  public let form: (any StoredForm.Type)?
  /// Whether it is written also at its default or when it is empty: what is required, and a string of a primary key, which
  /// upstream's readers take to be there.
  var isAlwaysWritten: Bool

  /// A property, as generated code states it.
  /// - Parameters:
  ///   - name: Its name in the schema.
  ///   - offset: Its place.
  ///   - kind: What it holds.
  ///   - swiftName: Its name in Swift, if it is another one.
  ///   - required: Whether verification wants it to be there.
  ///   - form: How its values are stored, if they have another type in Swift.
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
    // What no program can make up is not written: see `requiredUnions`.
    isAlwaysWritten = if case .union = kind { false } else { required }
  }
}

/// The shape of a table.
public final class TableLayout: Sendable {
  /// The name in the schema, without namespace.
  public let name: String
  /// The name in Swift, without namespace.
  public let swiftName: String
  /// The schema's `v` attribute.
  public let version: String?
  /// Slots of the vtable, deprecated ones and union tags included.
  public let slotCount: Int
  /// The fields, in the order of the schema.
  public let properties: [Property]
  /// The plan, once it is made: a reference that the layout owns. (`AtomicLazyReference` is the same at six hundred
  /// instructions a load, since it is generic and compiled elsewhere.)
  private let madePlan = Atomic<Unmanaged<LayoutPlan>?>(nil)

  /// A layout, as generated code states it.
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
  public func property(at offset: Int) -> Property? {
    properties.first { $0.offset == offset }
  }

  /// The same layout, whose strings at these offsets are always written.
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

  /// The layout, flattened. Made at first use: before, layouts that refer to each other may not all be there.
  var plan: LayoutPlan { unretainedPlan.takeUnretainedValue() }

  /// The plan, which lives as long as the layout.
  @inline(__always)
  var unretainedPlan: Unmanaged<LayoutPlan> {
    madePlan.load(ordering: .acquiring) ?? makePlan()
  }

  /// Several threads may make one; that of the first is kept.
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

/// The shape of a fixed struct.
public final class StructLayout: Sendable {
  /// The name in the schema.
  public let name: String
  /// The schema's `v`.
  public let version: String?
  /// In bytes.
  public let size: Int
  /// In bytes.
  public let alignment: Int
  /// The fields, in the order of the schema.
  public let properties: [Property]

  /// A layout, as generated code states it.
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
  public func property(at offset: Int) -> Property? {
    properties.first { $0.offset == offset }
  }
}

/// The members of a union.
public final class UnionLayout: Sendable {
  /// One member: its name in the schema, its tag, and a table, struct or string.
  public struct Member: Sendable {
    /// The name in the schema.
    public let name: String
    /// The name of the case in Swift.
    public let swiftName: String
    /// The number in the schema.
    public let tag: UInt8
    /// What is stored for it.
    public let kind: Property.Kind

    /// A member, as generated code states it.
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
  public let name: String
  /// Members by tag, from 1 up.
  public let members: [Member]

  /// A layout, as generated code states it.
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
  public let name: String
  /// The name in Swift.
  public let swiftName: String
  /// The underlying type.
  public let type: ValueType
  /// Every combination of bits is a value, not only the declared ones.
  public let isBitFlags: Bool
  /// Names in the schema and raw values (bit patterns for `ulong`), ordered by value.
  public let values: [(name: String, value: Int64)]
  /// The names in Swift, in the order of `values`.
  public let cases: [String]
  /// The raw values, sorted as bit patterns.
  let known: [Int64]

  /// A layout, as generated code states it.
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

  /// Whether a stored raw value is one that this schema knows.
  func knows(_ raw: Int64) -> Bool {
    isBitFlags || known.contains(raw)
  }
}
