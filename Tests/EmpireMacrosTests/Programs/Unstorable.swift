// Types that only the compiler can find to be unstorable. It reports each property once, at the
// type alias that the macro generates.

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
