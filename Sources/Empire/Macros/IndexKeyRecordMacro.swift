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
/// the last component given may be an operator, and `delete(in:…)`. Every stored property needs a type that is written, and
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
  named(deserialize(with:)), named(fieldsVersion), named(keyPrefix), named(select), named(delete))
public macro IndexKeyRecord(
  validated: Int? = nil, keyPrefix: Int? = nil, fieldsVersion: Int? = nil,
  _ first: StaticString, _ remaining: StaticString...
) = #externalMacro(module: "EmpireMacros", type: "IndexKeyRecordMacro")
