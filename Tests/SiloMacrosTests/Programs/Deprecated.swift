// Values with deprecated properties, cases and types: the generated code has no warning.

import Foundation
import Silo

@Persistable(version: 1, table: "friends", shape: "id:I name:S")
struct Friend: Identifiable, Hashable {
  var id: Int
  var name: String
}

@PersistableValue(shape: "old:S new:S")
enum Kind: String {
  @available(*, deprecated) case old
  case new
}

@PersistableValue(shape: "none:() number:(I) text:(S)")
enum Contents {
  @available(*, deprecated) case none
  @available(*, deprecated, renamed: "text") case number(Int)
  case text(String)
}

@PersistableValue(shape: "street:S city:S?")
struct Address {
  @available(*, deprecated, message: "no longer used")
  var street: String
  var city: String?
}

@available(*, deprecated)
@PersistableValue(shape: "old:I")
struct OldPart { var old: Int }

@Persistable(
  version: 2, table: "notes",
  shape:
    "id:I title:S=new kind:Kind=.old contents:Contents? part:OldPart? friend:@Friend? left:I right:I at:D"
)
struct Note: Identifiable {
  var id: Int
  @available(*, deprecated) @Indexed var title = "new"
  @available(*, deprecated) var kind: Kind = .old
  @available(*, deprecated) var contents: Contents?
  @available(*, deprecated) var part: OldPart?
  @available(*, deprecated) @Retains @DeleteRule(.nullify) var friend: RelatedItem<Friend>?
  @available(macOS, deprecated: 10.0) var left, right: Int
  @available(*, deprecated) var at: Date = Date(timeIntervalSince1970: 0)
}

extension Note {
  @EntityVersion(1, of: Note.self, shape: "id:I title:S")
  struct V1 {
    var id: Int
    @available(*, deprecated) var title: String
  }
}

@available(*, deprecated)
@Persistable(version: 1, table: "olds", shape: "id:I part:OldPart")
struct Old: Identifiable {
  var id: Int
  var part: OldPart
}

func use(_ silos: Silos, _ note: Note) async throws {
  try await silos[Note.self].save(note)
  _ = try await silos[Note.self].values(where: Note.id == 5)
}
