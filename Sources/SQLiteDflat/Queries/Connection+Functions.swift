// Functions of conditions in SQL.

public import Dflat
public import SQLiteAccess

extension Connection {
  /// Creates an SQL function from a function of conditions, under its name.
  ///
  ///     try connection.register(conformsTo)
  ///     let rows = try connection.rows(
  ///       "SELECT name FROM files WHERE conformsTo(uti, 'public.image')")
  ///
  /// `NULL` is an unknown argument, and an unknown result is `NULL`. An argument that is of another
  /// type, or does not fit the parameter's type, is unknown, too. Booleans are 0 and 1, unsigned
  /// 64-bit numbers are their bit patterns.
  ///
  /// - Parameter function: Replaces a function with the same name and number of parameters.
  /// - Throws: ``SQLiteError``, as `createFunction`.
  public func register<Result, First, each Rest>(
    _ function: Function<Result, First, repeat each Rest>
  ) throws(SQLiteError) {
    let types = function.parameterTypes
    try createFunction(
      function.name, argumentCount: types.count, deterministic: function.isDeterministic
    ) { call in
      var arguments: [Value?] = []
      for (index, type) in types.enumerated() {
        arguments.append(Value(call[index], as: type))
      }
      return switch try function.untyped(arguments) {
      case .bool(let value)?: .integer(value ? 1 : 0)
      case .integer(let value)?: .integer(value)
      case .unsigned(let value)?: .integer(Int64(bitPattern: value))
      case .real(let value)?: .real(value)
      case .string(let value)?: .text(value)
      case nil: .null
      }
    }
  }
}

extension Value {
  /// The value of a column or argument; nil for `NULL` and for values of other types.
  fileprivate init?(_ value: SQLValue, as type: ValueType) {
    switch (value, type) {
    case (.integer(let number), .bool): self = .bool(number != 0)
    case (.integer(let number), .uint64): self = .unsigned(UInt64(bitPattern: number))
    case (.integer(let number), .float), (.integer(let number), .double):
      self = .real(Double(number))
    case (.integer(let number), _) where type != .string: self = .integer(number)
    case (.real(let number), .float), (.real(let number), .double): self = .real(number)
    case (.text(let text), .string): self = .string(text)
    default: return nil
    }
  }
}
