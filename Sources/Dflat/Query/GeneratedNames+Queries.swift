// Second names of the types of queries, for generated code; see GeneratedNames.swift.

/// ``Field``, in generated code: a program may have a `Field` of its own.
public typealias DflatField = Field
/// ``Reference``, in generated code: a program may have a `Reference` of its own.
public typealias DflatReference = Reference
/// ``Condition``, in generated code: a program may have a `Condition` of its own.
public typealias DflatCondition<Element: Atom> = Condition<Element>
