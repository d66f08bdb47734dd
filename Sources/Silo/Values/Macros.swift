// The macros that make plain Swift types storable.

/// Makes a struct storable: its canonical representation, the conversion in both directions, and
/// the names of its properties in conditions.
///
///     @Persistable(version: 1, table: "tasks", shape: "id:U title:S isDone:B=false")
///     struct Task: Identifiable, Hashable, Sendable {
///       var id: UUID
///       @Indexed var title: String
///       var isDone = false
///     }
///
/// The stored properties need explicit types, unless a literal shows it. See
/// <doc:ValuesAndRelations> for the types, and <doc:Versions> for what `shape` protects.
///
/// - Parameters:
///   - version: The version of what is stored. The table is `<table>_v<version>`.
///   - table: The table; by default the name of the struct.
///   - shape: What is stored, as the compiler proposed it. If the properties no longer fit it,
///     compiling fails with an explanation.
@attached(extension, conformances: Persistable, names: named(init(_reading:)), named(_Checks))
@attached(
  member,
  names: named(_StoredTypes), named(init), named(_canonical), named(_write), named(_visitRelated),
  named(_relations), named(_newest))
@attached(memberAttribute)
public macro Persistable(
  version: Int = 1, table: StaticString? = nil, shape: StaticString? = nil
) = #externalMacro(module: "SiloMacros", type: "PersistableMacro")

/// Makes a struct or enum a possible part of stored values.
///
///     @PersistableValue
///     enum State: String { case open, done }
///
///     @PersistableValue
///     struct Address: Hashable { var street: String; var city: String }
///
/// A struct whose properties are strings, integers and UUIDs, and which is declared `Hashable`, may
/// also be the type of an `id`.
///
/// - Parameter shape: What is stored, as the compiler proposed it.
@attached(
  extension,
  conformances: PersistableStruct, PersistableTextEnum, PersistableNumberEnum, PersistableCaseEnum,
  PersistableID, names: named(init), named(_key), named(_Checks))
@attached(
  member,
  names: named(_StoredTypes), named(_Cases), named(init), named(_fields), named(_slots),
  named(_write), named(unreadable), named(_hasCase))
public macro PersistableValue(shape: StaticString? = nil) =
  #externalMacro(module: "SiloMacros", type: "PersistableValueMacro")

/// Gives a property of a `@Persistable` struct an index.
@attached(peer)
public macro Indexed() = #externalMacro(module: "SiloMacros", type: "PropertyMarkMacro")

/// Gives a property of a `@Persistable` struct an index whose values are unique: saving a second
/// value with the same content fails.
@attached(peer)
public macro Unique() = #externalMacro(module: "SiloMacros", type: "PropertyMarkMacro")

/// Leaves a property out of what is stored. It needs a default, which values that are read have.
@attached(peer)
public macro Ignored() = #externalMacro(module: "SiloMacros", type: "PropertyMarkMacro")

/// Has managed values keep what they refer to by this relation.
///
///     @Retains var owner: RelatedItem<User>
@attached(peer)
public macro Retains() = #externalMacro(module: "SiloMacros", type: "PropertyMarkMacro")

/// Says what happens to the value when another one is deleted that it refers to by this relation.
///
///     @DeleteRule(.cascade) var list: RelatedItem<TaskList>
///
/// - Parameter rule: The rule. `.nullify` needs a variable that is optional or has several items.
@attached(peer)
public macro DeleteRule(_ rule: DeletionRule) =
  #externalMacro(module: "SiloMacros", type: "PropertyMarkMacro")

/// Retains an older version of a stored value, for migrations and tests.
///
///     extension Task {
///       @EntityVersion(1, of: Task.self, shape: "id:U name:S")
///       struct V1 { var id: UUID; var name: String }
///     }
///
/// - Parameters:
///   - version: The version.
///   - value: The newest type, whose table it shares.
///   - shape: What was stored, as the compiler proposed it.
@attached(extension, conformances: Persistable, names: named(init(_reading:)), named(_Checks))
@attached(
  member,
  names: named(_StoredTypes), named(init), named(_canonical), named(_write), named(_visitRelated),
  named(_relations), named(_newest))
@attached(memberAttribute)
public macro EntityVersion<Value>(
  _ version: Int, of value: Value.Type, shape: StaticString? = nil
) = #externalMacro(module: "SiloMacros", type: "EntityVersionMacro")

/// Declares the name of a property in conditions. For generated code: `@Persistable` adds it to the
/// property.
///
/// - Parameter declaration: The declaration.
@attached(peer, names: overloaded)
public macro _SiloQueryName(_ declaration: StaticString) =
  #externalMacro(module: "SiloMacros", type: "QueryNamesMacro")

/// Declares the names of properties that are declared in lists, as `var a, b: Int`. For generated
/// code: `@Persistable` adds it to another property.
///
/// - Parameter declarations: The declarations.
@attached(peer, names: arbitrary)
public macro _SiloQueryNames(_ declarations: StaticString...) =
  #externalMacro(module: "SiloMacros", type: "QueryNamesMacro")
