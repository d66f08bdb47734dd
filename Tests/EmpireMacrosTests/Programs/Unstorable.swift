// Types that only the compiler knows not to be storable: said once for a property, at the name that the macro gives the type.

import Empire

struct Tag { var text: String }

@IndexKeyRecord("id")
struct Tagged {
  let id: Int
  var tag: Tag
  var tags: [Tag]?
}

enum Grade: UInt32 { case low, high }

@IndexKeyRecord("id", "grade")
struct Graded {
  let id: Int
  let grade: Grade
}
