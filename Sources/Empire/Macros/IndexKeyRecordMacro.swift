// The macros that make a struct a record and give it indexes.

/// Makes a struct a record. The named stored properties form the key, in the order of the
/// arguments; the other ones are fields.
///
///     @IndexKeyRecord("city", "name")
///     struct Person {
///       let city: String
///       let name: String
///       var age: Int
///     }
///
/// The macro adds the conformance to `IndexKeyRecord`. For each number of leading components, it
/// also adds the functions `select(in:limit:…)`, whose last component may be an operator;
/// `query(limit:…)`, which returns a `RecordSet` of the same records; and `delete(in:…)`. Every
/// stored property needs an explicit type, and the struct needs its memberwise initialiser.
///
/// The type's tag is a hash of its name. The fields' version is a hash of their types as they are
/// spelled. Renaming a field therefore needs no migration; after other changes, stored records are
/// migrated when they are read. See <doc:Migrations>.
///
/// - Parameters:
///   - validated: The expected hash of the fields' types. A different hash is a compile-time error,
///     so that the types cannot change unnoticed.
///   - keyPrefix: An explicit tag of the type, instead of the hash of its name.
///   - fieldsVersion: An explicit version, instead of the hash of the fields' types.
///   - first: The name of the key's first component.
///   - remaining: The names of the key's other components.
@attached(
  member,
  names: named(IndexKey), named(Fields), named(indexKey), named(fields), named(serialize),
  named(deserialize(with:)), named(fieldsVersion), named(equalFieldsVersions), named(select),
  named(delete), named(indexTags), named(recordDescription), named(query), named(RecordTypes),
  named(init))
@attached(extension, conformances: IndexKeyRecord, names: named(keyPrefix))
public macro IndexKeyRecord(
  validated: Int? = nil, keyPrefix: Int? = nil, fieldsVersion: Int? = nil,
  _ first: StaticString, _ remaining: StaticString...
) = #externalMacro(module: "EmpireMacros", type: "IndexKeyRecordMacro")

/// Reports at compile time that a record needs a key, as in `@IndexKeyRecord("city", "name")`.
///
/// - Parameters:
///   - validated: The same as with a key.
///   - keyPrefix: The same as with a key.
///   - fieldsVersion: The same as with a key.
@attached(
  member,
  names: named(IndexKey), named(Fields), named(indexKey), named(fields), named(serialize),
  named(deserialize(with:)), named(fieldsVersion), named(equalFieldsVersions), named(select),
  named(delete), named(indexTags), named(recordDescription), named(query), named(RecordTypes),
  named(init))
@attached(extension, conformances: IndexKeyRecord, names: named(keyPrefix))
public macro IndexKeyRecord(
  validated: Int? = nil, keyPrefix: Int? = nil, fieldsVersion: Int? = nil
) = #externalMacro(module: "EmpireMacros", type: "IndexKeyRecordMacro")

/// Adds an index to a record: a second order, by other properties than its key.
///
///     @IndexKeyRecord("city", "name")
///     @Index("age")
///     struct Person {
///       let city: String
///       let name: String
///       var age: Int
///     }
///
///     let grown = try Person.select(in: store, age: .greaterOrEqual(18))
///
/// For each number of leading components, functions `select(in:limit:…)` are added, as for the key.
/// Records with equal values are in the order of their keys; a list of values (`within`) returns
/// all records of each value, possibly none. The index is maintained in the transaction that writes
/// the records, and built when a query first needs it. If the indexed values exceed 502 bytes,
/// inserting throws `StoreError.keyBufferOverflow`, which names the record and the property.
///
/// A type may have several indexes. An index whose queries the key or another index already answers
/// is a compile-time error.
///
/// - Parameters:
///   - first: The name of the first property.
///   - remaining: The names of the other properties.
@attached(peer)
public macro Index(_ first: StaticString, _ remaining: StaticString...) =
  #externalMacro(module: "EmpireMacros", type: "IndexMacro")
