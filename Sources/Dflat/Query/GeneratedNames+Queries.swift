// Aliases of query types, for generated code; see GeneratedNames.swift.

/// ``Field``, in generated code: a program may define its own `Field`.
public typealias DflatField = Field
/// ``Reference``, in generated code: a program may define its own `Reference`.
public typealias DflatReference = Reference
/// ``Condition``, in generated code: a program may define its own `Condition`.
public typealias DflatCondition<Element: Atom> = Condition<Element>
