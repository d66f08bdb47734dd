// BinarySchema: the schema of a type as data, in the terms of FlatBuffers' reflection.fbs.
//
// It is what `flatc --schema --binary` writes, so other programs can read rows with it.
//
//  - Attributes are in the order of their names, and the values of enums in that of the numbers.
//  - Types are referred to by name. Positions exist in the encoded form only.
//  - The fields of an object are in the order of their ids, and every slot has one: programs read
//    the slots of deprecated fields as well.
//  - Dflat's attributes are those of the schema language: `primary`, `indexed`, `v`. What
//    reflection.fbs cannot express, the default of a string, is the attribute `default`.

/// The schema of a type and of all types that it contains.
package struct BinarySchema: Sendable, Hashable {
  /// An attribute in parentheses.
  package struct Attribute: Sendable, Hashable {
    package var name: String
    /// Empty if the attribute has no value.
    package var value: String

    package init(_ name: String, _ value: String = "") {
      self.name = name
      self.value = value
    }
  }

  /// What a value is on the wire. The numbers are those of reflection.fbs.
  package enum BaseType: Int8, Sendable {
    case none, unionTag, bool, byte, ubyte, short, ushort, int, uint, long, ulong, float, double
    case string, vector, object, union, array
  }

  /// The type of a field, an element or a union member.
  package struct FieldType: Sendable, Hashable {
    package var base: BaseType
    /// What the elements of a vector or array are.
    package var element = BaseType.none
    /// The full name of the object, enum or union, if it is one or has one as elements.
    package var name: String?
    /// The number of elements of an array.
    package var count = 0

    package init(
      _ base: BaseType, of element: BaseType = .none, named name: String? = nil, count: Int = 0
    ) {
      self.base = base
      self.element = element
      self.name = name
      self.count = count
    }
  }

  /// A field of a table or struct.
  package struct ObjectField: Sendable, Hashable {
    package var name: String
    package var type: FieldType
    /// Its slot in a table, its position in a struct.
    package var id: Int
    /// The vtable offset in a table, the byte offset in a struct.
    package var offset: Int
    /// The default of an integer, enum or Boolean. A bit pattern for `ulong`.
    package var integer: Int64 = 0
    /// The default of a `float` or `double`.
    package var real = 0.0
    package var isDeprecated = false
    package var isRequired = false
    /// Whether absence means nil. So it is for all types but scalars that are not `= null`.
    package var isOptional = false
    package var attributes: [Attribute] = []

    package init(_ name: String, _ type: FieldType, id: Int, offset: Int) {
      self.name = name
      self.type = type
      self.id = id
      self.offset = offset
    }
  }

  /// A table or struct.
  package struct Object: Sendable, Hashable {
    package var name: String
    package var fields: [ObjectField] = []
    package var isStruct = false
    package var alignment = 1
    /// The size of a struct in bytes.
    package var size = 0
    package var attributes: [Attribute] = []

    package init(_ name: String) { self.name = name }
  }

  /// A value of an enum, or a member of a union.
  package struct EnumValue: Sendable, Hashable {
    package var name: String
    /// The tag of a union's member.
    package var value: Int64
    /// The type of a union's member; nil for `NONE`, and for a value of an enum.
    package var type: FieldType?

    package init(_ name: String, _ value: Int64, _ type: FieldType? = nil) {
      self.name = name
      self.value = value
      self.type = type
    }
  }

  /// An enum or union.
  package struct Enumeration: Sendable, Hashable {
    package var name: String
    package var values: [EnumValue] = []
    package var isUnion = false
    package var underlying: BaseType
    package var attributes: [Attribute] = []

    package init(_ name: String, over underlying: BaseType) {
      self.name = name
      self.underlying = underlying
    }
  }

  /// The tables and structs, in the order of their names.
  package var objects: [Object]
  /// The enums and unions, in the order of their names.
  package var enums: [Enumeration]
  /// The full name of the type whose objects are stored.
  package var root: String

  /// Types in any order.
  package init(root: String, objects: [Object], enums: [Enumeration]) {
    self.root = root
    self.objects = objects.sorted { Self.precedes($0.name, $1.name) }
    self.enums = enums.sorted { Self.precedes($0.name, $1.name) }
    for place in self.enums.indices { self.enums[place].values.sort { $0.value < $1.value } }
  }

  /// The order of names in FlatBuffers: that of their bytes.
  static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }
}

extension [BinarySchema.Attribute] {
  /// The value of an attribute; nil if it is not there.
  package subscript(_ name: String) -> String? { first { $0.name == name }?.value }
}
