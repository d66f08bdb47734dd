// Expressions as programs write them, and the plain tree that they produce.
//
// Types at the edge, data inside: `Field`, `Computed` and the operators check types where a program
// writes a condition. Internally a condition is a `Node`, which knows value types but no Swift
// types.

/// An expression: operators over fields and constants.
///
/// The operands of an operator have the same `ValueType`. Fields and constants need no allocation
/// of their own: `field == constant`, which every fetch by key creates, is one allocation.
@usableFromInline package enum Node: Sendable {
  case field(FieldDescriptor)
  case constant(Value, ValueType)
  indirect case arithmetic(ArithmeticOperator, Node, Node, ValueType)
  indirect case unary(UnaryOperator, Node, ValueType)
  indirect case comparison(ComparisonOperator, Node, Node, ValueType)
  /// A comparison of an integer of any type with a `uint64`, by value.
  indirect case mixedComparison(ComparisonOperator, signed: Node, unsigned: Node)
  /// Two or more conditions, none of which is a conjunction itself.
  case and(NodeParts)
  /// Two or more conditions, none of which is a disjunction itself.
  case or(NodeParts)
  indirect case not(Node)
  indirect case isNull(Node, ValueType, negated: Bool)
  indirect case membership(Node, [Value], ValueType, negated: Bool)
  /// Whether a union's tag is one of these. False, not unknown, for an empty union.
  case match(FieldDescriptor, [Value])
  /// Whether certain bits of an integer are set.
  indirect case bits(Node, BitTest, Value, ValueType)
  /// A text without the difference of upper and lower case; see `CaseFolding`.
  indirect case folded(Node)
  /// Whether a condition on the elements of a vector holds.
  indirect case quantified(Quantifier, ElementVariable, Node)
  /// The result of a Swift function.
  case call(FunctionCall)
  /// What a text begins with, ends with or contains.
  indirect case text(Node, TextTest)
  /// Whether texts have the words of a search. Never unknown.
  case search(SearchCondition)
  /// How well texts match a search.
  case relevance(SearchCondition, weights: [Double])
}

/// `+`, `-`, `*`, `/` and `%`: exact for integers, in the type of the operands. A result that does
/// not fit is unknown.
@usableFromInline package enum ArithmeticOperator: Sendable {
  case add, subtract, multiply, divide, remainder
}

/// `-` and `abs` of one number. A result that does not fit is unknown.
@usableFromInline package enum UnaryOperator: Sendable {
  case negate, magnitude
}

/// A test of the bits in a mask.
@usableFromInline package enum BitTest: Sendable {
  /// Whether all of them are set.
  case contains
  /// Whether at least one of them is set.
  case intersects
}

/// The six comparisons.
@frozen
@usableFromInline package enum ComparisonOperator: UInt8, Sendable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

  /// The comparison that is true where this one is false, for known operands.
  var negated: ComparisonOperator {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  /// The equivalent comparison with the operands exchanged.
  @inlinable
  package var mirrored: ComparisonOperator {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// An expression over the fields of `Element`. Its value is a `Value` or unknown.
///
/// Fields and the results of operators conform. Programs write expressions but need not name their
/// types.
public protocol QueryExpression<Value, Element>: Sendable {
  associatedtype Value: QueryValue
  associatedtype Element: Atom
  /// The expression without its types, for Dflat.
  var _tree: ExpressionTree { get }
  /// The primary key that the expression compares with constants, if it does nothing else. For
  /// Dflat.
  var _key: KeyValues? { get }
}

/// An expression without its types. Programs pass it on and cannot look inside.
@frozen
public struct ExpressionTree: Sendable {
  @usableFromInline package let node: Node

  @inlinable
  package init(_ node: Node) { self.node = node }
}

extension QueryExpression {
  /// The expression without its types.
  @inlinable
  package var _node: Node { _tree.node }

  /// nil, so that the key is found in `_tree`.
  @inlinable
  public var _key: KeyValues? { nil }
}

/// The result of an operator.
@frozen
public struct Computed<Value: QueryValue, Element: Atom>: QueryExpression {
  @usableFromInline let result: OperatorResult

  @inlinable
  init(_ node: Node) { result = .node(node.limited) }

  @inlinable
  init(_ equality: Equality) { result = .equality(equality) }

  /// The expression without its types, for Dflat.
  @inlinable
  public var _tree: ExpressionTree {
    switch result {
    case .node(let node): ExpressionTree(node)
    case .equality(let equality): ExpressionTree(equality.node)
    }
  }

  /// The primary key, if it is a single field and compared with a constant. For Dflat.
  @inlinable
  public var _key: KeyValues? {
    guard case .equality(let equality) = result else { return nil }
    return equality.key(in: Element._schema)
  }
}

/// What an operator gives.
@frozen @usableFromInline
enum OperatorResult: Sendable {
  case node(Node)
  /// It becomes a node, which is allocated, only if one is needed: a fetch by key needs none.
  case equality(Equality)
}

/// `field == constant`.
@frozen @usableFromInline
struct Equality: Sendable {
  @usableFromInline let field: FieldDescriptor
  @usableFromInline let constant: Value

  @inlinable
  init(_ field: FieldDescriptor, _ constant: Value) {
    self.field = field
    self.constant = constant
  }

  @usableFromInline
  var node: Node {
    .comparison(.equal, .field(field), .constant(constant, field.type), field.type)
  }

  /// The primary key of a type, if this is a condition on all of it.
  @usableFromInline
  func key(in schema: EntitySchema) -> KeyValues? {
    guard field.column == .key(0), schema.primaryKey.count == 1, field.domain == nil,
      !constant.isNaN
    else { return nil }
    return KeyValues(first: constant, rest: [])
  }
}

/// A condition on objects of `Element`: true, false or unknown for each object.
public typealias Condition<Element: Atom> = Computed<Bool, Element>

/// A field: a ``Field``, or a reference to other objects, which is a field as well.
public protocol FieldExpression<Value, Element>: QueryExpression {
  /// The field itself, for Dflat.
  var _field: Field<Value, Element> { get }
}

/// A scalar, string or enum field of `Element`, or of a table or struct that it refers to.
///
/// Generated code declares fields as static members of entities: `Post.priority`,
/// `Post.author.handle`.
@frozen
public struct Field<Value: QueryValue, Element: Atom>: FieldExpression {
  @usableFromInline let descriptor: FieldDescriptor

  /// The expression without its types, for Dflat.
  @inlinable
  public var _tree: ExpressionTree { ExpressionTree(.field(descriptor)) }

  /// The field itself, for Dflat.
  public var _field: Field<Value, Element> { self }

  init(_ descriptor: FieldDescriptor) {
    precondition(
      descriptor.form.map { $0._isForm(of: Value.self) } ?? (descriptor.type == Value._valueType),
      "field \(descriptor.path) of \(Element._schema.table) is not a \(Value.self)")
    self.descriptor = descriptor
  }

  /// The same field of several union members.
  init(oneOf fields: [FieldDescriptor]) {
    self.init(fields.count == 1 ? fields[0] : FieldDescriptor(oneOf: fields))
  }

  /// The field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    self.init(Element._schema.root.field(offset, in: Element._schema))
  }
}

extension QueryExpression {
  /// Whether the value is unknown: a missing field, or a computation without a result. Never
  /// unknown itself.
  @inlinable
  public var isNull: Condition<Element> {
    Computed(_node.isNull(Value._valueType, negated: false))
  }

  /// Whether the value is known. Never unknown itself.
  @inlinable
  public var isNotNull: Condition<Element> {
    Computed(_node.isNull(Value._valueType, negated: true))
  }

  /// Whether the value is one of `values`. Unknown if the value is unknown, even if `values` is
  /// empty.
  @inlinable
  public func `in`<S: Sequence>(_ values: S) -> Condition<Element> where S.Element == Value {
    Computed(_node.membership(values, negated: false))
  }

  /// Whether the value is none of `values`. Unknown if the value is unknown, even if `values` is
  /// empty.
  @inlinable
  public func notIn<S: Sequence>(_ values: S) -> Condition<Element> where S.Element == Value {
    Computed(_node.membership(values, negated: true))
  }
}

extension QueryExpression where Value: FlatBuffersEnum & OptionSet {
  /// Whether all of these flags are set; unknown if the value is unknown. True for no flags at all.
  @inlinable
  public func contains(_ flags: Value) -> Condition<Element> {
    Computed(.bits(_node, .contains, flags._value, Value._valueType))
  }

  /// Whether at least one of these flags is set; unknown if the value is unknown.
  @inlinable
  public func intersects(_ flags: Value) -> Condition<Element> {
    Computed(.bits(_node, .intersects, flags._value, Value._valueType))
  }
}
