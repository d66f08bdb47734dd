// Declarations without a shape: they compile with a warning.

import Foundation
import Silo

@Persistable(version: 1)  // ! add shape: "id:U title:S done:B=false"
struct First: Identifiable {
  var id: UUID
  var title: String
  var done = false
}

@Persistable  // ! add shape: "id:I"
struct Second: Identifiable { var id: Int }

@PersistableValue  // ! add shape: "a:S b:[I] c:{U} d:[S:R]?"
struct Third {
  var a: String
  var b: Array<Int>
  var c: Set<UUID>
  var d: Optional<[String: Double]>
}

@PersistableValue  // ! add shape: "a:I=0 b:I=5 c:I=6"
enum Fourth: Int { case a, b = 5, c }
