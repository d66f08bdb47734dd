// GeneratedNames: second names of some types, for generated code.
//
// Generated code stands in the program's module, where a type of the program hides one of Dflat's
// that has the same name. The names here are of types that programs are likely to have, too, such
// as a `Row` of a list; generated code uses these instead.

/// ``Atom``, in generated code: a program may have an `Atom` of its own.
public typealias DflatAtom = Atom
/// ``Row``, in generated code: a program may have a `Row` of its own.
public typealias DflatRow = Row
/// ``Property``, in generated code: a program may have a `Property` of its own.
public typealias DflatProperty = Property
