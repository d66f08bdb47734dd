// The macro that makes a struct a record.

/// Makes a struct a record: some of its stored properties are the key, in the order of the arguments, the others are fields.
///
///     @IndexKeyRecord("city", "name")
///     struct Person {
///       let city: String
///       let name: String
///       var age: Int
///     }
///
/// It adds the conformance to `IndexKeyRecord`, and for each number of leading components functions `select(in:limit:…)`, in which
/// the last component given may be an operator, `query(limit:…)`, which makes a `RecordSet` of the same records, and `delete(in:…)`. Every stored property needs a type that is written, and
/// the struct its memberwise initialiser.
///
/// The type's tag is a hash of its name, and the fields' version is a hash of their types as they are written, so renaming a field is
/// free, and other changes migrate stored records when they are read; see <doc:Migrations>.
///
/// - Parameters:
///   - validated: The hash of the fields' types. It is an error if it is another one, so the types cannot change unseen.
///   - keyPrefix: A tag of the type's own instead of the hash of its name.
///   - fieldsVersion: A version of its own instead of the hash of the fields' types.
///   - first: The name of the key's first component.
///   - remaining: The names of the key's other components.
@attached(
  extension, conformances: IndexKeyRecord,
  names: named(IndexKey), named(Fields), named(indexKey), named(fields), named(serialize),
  named(deserialize(with:)), named(fieldsVersion), named(keyPrefix), named(select), named(delete),
  named(indexTags), named(recordDescription), named(query), named(RecordTypes))
public macro IndexKeyRecord(
  validated: Int? = nil, keyPrefix: Int? = nil, fieldsVersion: Int? = nil,
  _ first: StaticString, _ remaining: StaticString...
) = #externalMacro(module: "EmpireMacros", type: "IndexKeyRecordMacro")

/// Reports that a record needs a key: `@IndexKeyRecord("city", "name")` has the names of its properties.
///
/// - Parameters:
///   - validated: As with a key.
///   - keyPrefix: As with a key.
///   - fieldsVersion: As with a key.
@attached(
  extension, conformances: IndexKeyRecord,
  names: named(IndexKey), named(Fields), named(indexKey), named(fields), named(serialize),
  named(deserialize(with:)), named(fieldsVersion), named(keyPrefix), named(select), named(delete),
  named(indexTags), named(recordDescription), named(query), named(RecordTypes))
public macro IndexKeyRecord(
  validated: Int? = nil, keyPrefix: Int? = nil, fieldsVersion: Int? = nil
) = #externalMacro(module: "EmpireMacros", type: "IndexKeyRecordMacro")

/// Gives a record a second order, by other properties than its key: an index.
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
/// For each number of leading components there are the functions `select(in:limit:…)`, as for the key. Records with equal values
/// are in the order of their keys; a list of values (`within`) gives all records of each, possibly none. The index is kept up in the
/// transaction that writes the records, and built when a query first asks for it. A value that is too long to be sorted
/// (502 bytes) makes inserting throw `StoreError.keyBufferOverflow`, which names the record and the property.
///
/// A type may have several. Those that the key or another index answers already are refused.
///
/// - Parameters:
///   - first: The name of the first property.
///   - remaining: The names of the others.
@attached(peer)
public macro Index(_ first: StaticString, _ remaining: StaticString...) =
  #externalMacro(module: "EmpireMacros", type: "IndexMacro")
