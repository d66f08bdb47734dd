// Values whose relations retain and have rules for deletions.

import Silo

@Persistable(version: 1, table: "folders", shape: "id:I name:S= parent:@Folder?")
struct Folder: Identifiable, Hashable, Sendable {
  var id: Int
  var name = ""
  @Retains @DeleteRule(.cascade) var parent: RelatedItem<Folder>?

  init(_ id: Int, name: String = "", in parent: Int? = nil) {
    self.id = id
    self.name = name
    self.parent = parent.map { RelatedItem(id: $0) }
  }
}

@Persistable(version: 1, table: "labels", shape: "id:S text:S=")
struct Label: Identifiable, Hashable, Sendable {
  var id: String
  var text = ""
}

@Persistable(
  version: 1, table: "memos",
  shape: "id:I text:S= folder:@Folder labels:@{Label} marks:@[Label] about:@Folder?")
struct Memo: Identifiable, Hashable, Sendable {
  var id: Int
  var text = ""
  @DeleteRule(.cascade) let folder: RelatedItem<Folder>
  @Retains @DeleteRule(.nullify) var labels: RelatedItems<Label>
  @DeleteRule(.nullify) var marks: RelatedList<Label>
  @DeleteRule(.nullify) var about: RelatedItem<Folder>?

  init(
    _ id: Int, text: String = "", in folder: Int, labels: [String] = [], marks: [String] = [],
    about: Int? = nil
  ) {
    self.id = id
    self.text = text
    self.folder = RelatedItem(id: folder)
    self.labels = RelatedItems(ids: labels)
    self.marks = RelatedList(ids: marks)
    self.about = about.map { RelatedItem(id: $0) }
  }
}

@Persistable(version: 1, table: "locks", shape: "id:I folder:@Folder")
struct Lock: Identifiable, Hashable, Sendable {
  var id: Int
  @DeleteRule(.deny) var folder: RelatedItem<Folder>

  init(_ id: Int, of folder: Int) {
    self.id = id
    self.folder = RelatedItem(id: folder)
  }
}

/// What it refers to may be deleted and evicted at any time.
@Persistable(version: 1, table: "hints", shape: "id:I label:@Label")
struct Hint: Identifiable, Hashable, Sendable {
  var id: Int
  @DeleteRule(.nothing) var label: RelatedItem<Label>

  init(_ id: Int, about label: String) {
    self.id = id
    self.label = RelatedItem(id: label)
  }
}

/// An upload about anything.
struct Sent: Upload {
  var orderingKey = "all"
  var number = 0
}
