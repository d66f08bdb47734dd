// Types that only the compiler can find to be unstorable. It reports them at their properties, and
// what to write.

import Empire
import Foundation

struct Tag { var text: String }

@IndexKeyRecord("id")
struct Tagged {
  let id: Int
  var tag: Tag  // ! declare the type 'Serializable, Deserializable' if it has a raw value
  var tags: [Tag]?  // ! or 'JSONSerializable' if it is 'Codable'
}

enum Grade: UInt32 { case low, high }

@IndexKeyRecord("id", "grade", "site")
struct Graded {
  let id: Int
  let grade: Grade  // ! a key cannot have this type
  let site: URL  // ! type 'URL' does not conform to protocol 'IndexKeyComparable'
  var other: Grade  // ! type 'Grade' does not conform to protocol
}
