// Correct declarations, whose expansions the tests look at.

import Silo

@Persistable(
  version: 2, table: "notes", shape: "id:I title:S=new tags:@{Note} parent:@Note? first:@Note")
struct Note: Identifiable {
  var id: Int
  @Indexed var title = "new"
  var tags: RelatedItems<Note>
  @Retains @DeleteRule(.nullify) var parent: RelatedItem<Note>?
  @DeleteRule(.deny) let first: RelatedItem<Note>
  @Ignored var memo = 0
}

@PersistableValue(shape: "a:S b:S")
enum Kind: String { case a, b }

@PersistableValue(shape: "a:() b:(count:I)")
enum State { case a, b(count: Int) }
