// Sources/Silo/Silo.docc/ValuesAndRelations.md
import Foundation
import Silo

func asking(
  tasks: Silo<Task>, users: Silo<User>, me: RelatedItem<User>, urgent: RelatedItem<Tag>, ids: [UUID]
) async throws {
  // block 1
  // block 2
  // block 3
}
