// Types that only the compiler knows not to be storable: the error is at the property.

import Silo

struct Plain { var number = 1 }

enum Kind: String { case a, b }

@Persistable(version: 1, shape: "id:I plain:Plain other:I list:[Plain] kind:Kind?")
struct Holder: Identifiable {
  var id: Int
  var plain: Plain  // ! type 'Plain' does not conform to protocol 'PersistablePart'
  var other: Int
  var list: [Plain]  // ! type 'Plain' does not conform to protocol 'PersistablePart'
  var kind: Kind?  // ! type 'Kind' does not conform to protocol 'PersistablePart'
}

@PersistableValue(shape: "plain:Plain")
struct Inner {
  var plain: Plain  // ! type 'Plain' does not conform to protocol 'PersistablePart'
}

@PersistableValue(shape: "street:S")
struct Address { var street: String }

@PersistableValue(shape: "none:() some:(S)")
enum Contents { case none, some(String) }

@PersistableValue(shape: "none:() plain:(Plain)")
enum Choice {
  case none
  case plain(Plain)  // ! type 'Plain' does not conform to protocol 'PersistablePart'
}

@PersistableValue(shape: "leaf:(S) node:([Tree])")
indirect enum Tree { case leaf(String), node([Tree]) }

@Persistable(version: 1, shape: "id:I address:Address contents:Contents? name:S?")
struct Unindexable: Identifiable {
  var id: Int
  @Indexed var address: Address  // ! does not conform to protocol 'IndexableProperty'
  @Unique var contents: Contents?  // ! does not conform to protocol 'IndexableProperty'
  @Unique var name: String?
}

@PersistableValue(shape: "number:I?")
struct OptionalKey: Hashable { var number: Int? }

@PersistableValue(shape: "key:OptionalKey")
struct NestedKey: Hashable { var key: OptionalKey }

@PersistableValue(shape: "number:I")
struct KeyWithoutHash { var number: Int }

@PersistableValue(shape: "a:S")
enum KeyKind: String { case a }

@Persistable(version: 1, shape: "id:OptionalKey")
struct ByOptional: Identifiable {
  var id: OptionalKey  // ! has properties of these three kinds only
}

@Persistable(version: 1, shape: "id:NestedKey")
struct ByNested: Identifiable {
  var id: NestedKey  // ! has properties of these three kinds only
}

@Persistable(version: 1, shape: "id:KeyWithoutHash")
struct ByUnhashed {
  var id: KeyWithoutHash  // ! is declared 'Hashable' itself
}

@Persistable(version: 1, shape: "id:KeyKind")
struct ByKind: Identifiable {
  var id: KeyKind  // ! for another type, make the id its raw value
}

@PersistableValue(shape: "a:(I)")
enum Loaded: Hashable { case a(Int) }

@Persistable(version: 1, shape: "id:I loaded:[Loaded:I] values:[S:Plain]")
struct Dictionaries: Identifiable {
  var id: Int
  var loaded: [Loaded: Int]  // ! strings, integers, or enums without associated values
  var values: [String: Plain]  // ! write '@PersistableValue' before its declaration
}
