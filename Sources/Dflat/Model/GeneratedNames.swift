// GeneratedNames: aliases of some types, for generated code.
//
// Generated code is part of the program's module, where a type of the program hides a Dflat type of
// the same name. These are aliases for types that programs are likely to define, too, such as a
// `Row` of a list. Generated code uses the aliases.

/// ``Atom``, in generated code: a program may define its own `Atom`.
public typealias DflatAtom = Atom
/// ``Row``, in generated code: a program may define its own `Row`.
public typealias DflatRow = Row
/// ``Property``, in generated code: a program may define its own `Property`.
public typealias DflatProperty = Property
/// ``FlatBuffersUnion``, in generated code of a schema with a type of that name: the compiler does
/// not take `Dflat::FlatBuffersUnion` for the protocol where the type has the same name.
public typealias DflatUnion = FlatBuffersUnion
