// The effects of change requests, and of rejected ones.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Testing

@Suite("Changes")
struct ChangeTests {
  @Test(
    "A rejected submit rolls back only itself, and the rest is committed", arguments: TestEngine.all
  )
  func refusedSubmit(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let outcome = try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1, likes: 1, photo: "a")))
        let taken = Blog.PostChangeRequest.creationRequest(post(1, likes: 2))
        #expect(throws: TransactionError.objectAlreadyExists) { try txn.submit(taken) }
        #expect(txn.try(submit: taken) == nil)
        let samePhoto = Blog.PostChangeRequest.creationRequest(post(2, likes: 2, photo: "a"))
        #expect(txn.try(submit: samePhoto) == nil)
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(3, likes: 3)))
      }
      #expect(outcome.isCommitted)
      #expect(workspace.posts.all().map(\.likes) == [1, 3])
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "A conflict names the key or the unique field as the schema does",
    arguments: TestEngine.inEveryIndexState)
  func conflictNames(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, photo: "a"), post(2, photo: "b")])
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Post._schema, using: &random)
      let refusal = #expect(throws: StorageError.self) {
        try workspace.dflat.write(Post.self) { try $0.insert(post(3, photo: "b")) }
      }
      #expect(refusal?.cause == .alreadyExists && refusal?.table == "blog__post_v1_0")
      #expect(refusal?.key == #"attachment.as(Photo).path: "b""#)
      let text = "\(refusal.map { "\($0)" } ?? "")"
      #expect(text.contains("another object has it already") && !text.contains("f20"), "\(text)")
    }
  }

  @Test("A conflict of fields with Swift types names their values", arguments: TestEngine.all)
  func everydayConflicts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try Orders.store(in: workspace)
      var order = Orders.order(11)
      order = order.with { $0.site = URL(string: "https://example.com/4") }
      let site = #expect(throws: StorageError.self) {
        try workspace.dflat.write(Order.self) { try $0.insert(order) }
      }
      #expect(site?.key == #"site: "https://example.com/4""#)
      let key = #expect(throws: StorageError.self) {
        try workspace.dflat.write(Order.self) { try $0.insert(Orders.order(4)) }
      }
      #expect(key?.key?.hasSuffix(", number: 4") == true, "\(key?.key ?? "")")
    }
  }

  @Test(
    "Aborting rolls everything back; it returns true once; later submits throw",
    arguments: TestEngine.all)
  func abort(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let outcome = try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        #expect(txn.abort())
        #expect(!txn.abort())
        let late = Blog.PostChangeRequest.creationRequest(post(3))
        #expect(throws: TransactionError.aborted) { try txn.submit(late) }
        #expect(txn.try(submit: late) == nil)
      }
      #expect(!outcome.isCommitted)
      #expect(workspace.posts.all().map(\.number) == [1])
    }
  }

  @Test(
    "After an abort an object that is stored is found all the same, and its requests do nothing",
    arguments: TestEngine.all)
  func lookUpsAfterAbort(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      for wrote in [false, true] {
        let outcome = try workspace.write([Post.self]) { txn in
          if wrote { _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2))) }
          #expect(txn.abort())
          for object in [stored[0], post(1)] {
            let change = try #require(Blog.PostChangeRequest.changeRequest(object))
            change.likes = 7
            #expect(throws: TransactionError.aborted) { try txn.submit(change) }
            let deletion = try #require(Blog.PostChangeRequest.deletionRequest(object))
            #expect(throws: TransactionError.aborted) { try txn.submit(deletion) }
          }
          #expect(Blog.PostChangeRequest.changeRequest(post(9)) == nil)
          #expect(Blog.PostChangeRequest.deletionRequest(post(9)) == nil)
        }
        #expect(!outcome.isCommitted)
      }
      #expect(workspace.posts.all().map(\.likes) == [0])
    }
  }

  @Test(
    "A change request has the latest stored values, an upsert those of the object",
    arguments: TestEngine.all)
  func latestValues(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let old = try workspace.store([post(1, likes: 1)])[0]
      try workspace.write([Post.self]) { txn in
        let first = try #require(Blog.PostChangeRequest.changeRequest(old))
        first.likes = 2
        first.tags = ["x"]
        try txn.submit(first)
        let second = try #require(Blog.PostChangeRequest.changeRequest(old))
        #expect(second.likes == 2 && second.tags == ["x"])
        let third = Blog.PostChangeRequest.upsertRequest(old)
        #expect(third.likes == 1 && third.tags.isEmpty)
        guard case .updated(let post) = try txn.submit(third) else {
          Issue.record("an upsert of a stored object did not update it")
          return
        }
        #expect(post == old && post._rowid == old._rowid)
        guard
          case .inserted = try txn.submit(
            Blog.PostChangeRequest.upsertRequest(Post(site: "s", number: 9)))
        else {
          Issue.record("an upsert of a new object did not insert it")
          return
        }
        #expect(Blog.PostChangeRequest.changeRequest(Post(site: "s", number: 77)) == nil)
        #expect(Blog.PostChangeRequest.deletionRequest(Post(site: "s", number: 77)) == nil)
      }
    }
  }

  @Test(
    "An update to equal content is an identity; strings are compared by their bytes",
    arguments: TestEngine.all)
  func identity(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(
          Blog.PostChangeRequest.creationRequest(
            Post(site: "é", number: 1, author: Blog.Author(name: "e\u{301}"))))
      }
      let stored = workspace.posts.all()[0]
      try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(stored))
        guard case .identity(let same) = try txn.submit(request) else {
          Issue.record("an unchanged object was written")
          return
        }
        #expect(same == stored && same._rowid == stored._rowid)
        let other = try #require(Blog.PostChangeRequest.changeRequest(stored))
        other.author = Blog.Author(name: "é")
        guard case .updated = try txn.submit(other) else {
          Issue.record("another normal form was taken for the same string")
          return
        }
        // Another key makes it a different object.
        _ = try txn.insert(
          Blog.PostChangeRequest.creationRequest(Post(site: "e\u{301}", number: 1)))
      }
      #expect(workspace.posts.all().count == 2)
      #expect(workspace.posts.where(Post.site == "é").count == 1)
    }
  }

  @Test("A row id is never used again", arguments: TestEngine.all)
  func rowIDs(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let first = try workspace.store([post(1), post(2)])
      try workspace.remove([1, 2])
      let second = try workspace.store([post(1)])
      #expect(second[0]._rowid > first[1]._rowid)
      #expect(post(1)._rowid == -1)
    }
  }

  @Test(
    "An object is found by its row id, even if its key has changed since", arguments: TestEngine.all
  )
  func foundByRowID(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let old = try workspace.store([post(1)])[0]
      try workspace.change(1) { $0.number = 5 }
      try workspace.write([Post.self]) { txn in
        #expect(Blog.PostChangeRequest.changeRequest(old)?.number == 5)
        #expect(Blog.PostChangeRequest.changeRequest(post(1)) == nil)
      }
    }
  }

  @Test(
    "Keys of every kind are distinguished over their whole range, and sort as numbers",
    arguments: TestEngine.all)
  func keys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let keys: [UInt64] = [0, 1, .max, .max - 1, 1 << 63, (1 << 63) - 1]
      try workspace.write([Note.self, Kit.Slot.self]) { txn in
        for key in keys {
          _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: key)))
          #expect(throws: TransactionError.objectAlreadyExists) {
            try txn.submit(NoteChangeRequest.creationRequest(Note(key: key)))
          }
        }
        let slots = [
          Kit.Slot(row: .max, level: -.infinity, side: .right, isOpen: true, page: .max),
          Kit.Slot(row: .max, level: .infinity, side: .right, isOpen: true, page: .max),
          Kit.Slot(row: .max, level: 0, side: .left, isOpen: true, page: .max),
          Kit.Slot(row: .max, level: 0, side: .left, isOpen: false, page: .max),
          Kit.Slot(row: 0, level: 0, side: .left, isOpen: false, page: 0),
        ]
        for slot in slots {
          _ = try txn.insert(Kit.SlotChangeRequest.creationRequest(slot))
          #expect(throws: TransactionError.objectAlreadyExists) {
            try txn.submit(Kit.SlotChangeRequest.creationRequest(slot))
          }
          #expect(Kit.SlotChangeRequest.changeRequest(Kit.Slot.from(data: slot.toData())) != nil)
        }
      }
      let notes = workspace.dflat.fetch(for: Note.self)
      #expect(notes.all(orderBy: [Note.key.ascending]).map(\.key) == keys.sorted())
      #expect(
        notes.all(limit: .limit(2), orderBy: [Note.key.descending]).map(\.key) == [.max, .max - 1])
      #expect(notes.where(Note.key > 1 << 63).map(\.key).sorted() == [.max - 1, .max])
      #expect(notes.where(Note.key < 1 << 63).count == 3)
      let slots = workspace.dflat.fetch(for: Kit.Slot.self)
      #expect(slots.where(Kit.Slot.row > 1 && Kit.Slot.page > 5).count == 4)
      #expect(slots.where(Kit.Slot.level == .infinity).count == 1)
      #expect(slots.where(Kit.Slot.isOpen && Kit.Slot.side == .left).count == 1)
    }
  }

  @Test(
    "An object that is nested too deeply to be read again is rejected without side effects",
    arguments: TestEngine.all)
  func tooDeep(engine: TestEngine) throws {
    func crate(_ depth: Int) -> Kit.Crate {
      Kit.Crate(label: "\(depth)", inner: depth > 1 ? crate(depth - 1) : nil)
    }
    try withTemporaryWorkspace(engine) { workspace in
      let shelves = workspace.dflat.fetch(for: Kit.Shelf.self)
      try workspace.write([Kit.Shelf.self]) { txn in
        _ = try txn.insert(
          Kit.ShelfChangeRequest.creationRequest(Kit.Shelf(number: 1, crate: crate(60))))
      }
      for isUpdate in [true, false] {
        let outcome = try workspace.write([Kit.Shelf.self]) { txn in
          let request =
            try isUpdate
            ? #require(Kit.ShelfChangeRequest.changeRequest(shelves.all()[0])) : .creationRequest()
          request.number = 2
          request.crate = crate(70)
          #expect(throws: TransactionError.others) { try txn.submit(request) }
        }
        #expect(!outcome.isCommitted)
        #expect(workspace.takeErrors().map(\.cause) == [.other])
      }
      #expect(shelves.all().map(\.number) == [1] && shelves.all()[0].crate == crate(60))
    }
  }

  @Test(
    "A key that is NaN is rejected: it equals nothing, so any number of objects could have it",
    arguments: TestEngine.all)
  func unknownKey(engine: TestEngine) throws {
    func slot(_ level: Double) -> Kit.Slot {
      Kit.Slot(row: 1, level: level, side: .left, isOpen: true, page: 2)
    }
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Kit.Slot.self]) { txn in
        _ = try txn.insert(Kit.SlotChangeRequest.creationRequest(slot(1)))
      }
      let requests: [() -> Kit.SlotChangeRequest?] = [
        { .creationRequest(slot(.nan)) }, { .upsertRequest(slot(.nan)) },
        {
          let request = Kit.SlotChangeRequest.changeRequest(slot(1))
          request?.level = .nan
          return request
        },
      ]
      for make in requests {
        let outcome = try workspace.write([Kit.Slot.self]) { txn in
          let request = try #require(make())
          #expect(throws: TransactionError.others) { try txn.submit(request) }
          #expect(throws: TransactionError.aborted) { try txn.submit(request) }
        }
        #expect(!outcome.isCommitted)
        let errors = workspace.takeErrors()
        #expect(errors.count == 1)
        #expect(errors.first?.message.contains("level is NaN") == true, "\(errors)")
      }
      #expect(workspace.dflat.fetch(for: Kit.Slot.self).all().map(\.level) == [1])
    }
  }

  @Test(
    "A request that outlives its transaction looks its object up again instead of trusting its row",
    arguments: TestEngine.all)
  func outlivedRequest(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1)])
      nonisolated(unsafe) var kept: Blog.PostChangeRequest?
      try workspace.write([Post.self]) { txn in
        // The submit takes the lock, so the kept request is made at a version that later
        // transactions reach, too.
        try txn.submit(Blog.PostChangeRequest.creationRequest(post(2)))
        kept = Blog.PostChangeRequest.changeRequest(post(1))
      }
      try workspace.change(1) { $0.likes = 9 }
      try workspace.write([Post.self]) { txn in
        try txn.submit(Blog.PostChangeRequest.creationRequest(post(3)))
        let request = try #require(kept)
        // The request was made with the old number of likes, and does not bring it back.
        request.isPinned = true
        try txn.submit(request)
      }
      #expect(workspace.posts.where(Post.likes == 9 && Post.isPinned).map(\.number) == [1])
      #expect(workspace.posts.where(Post.likes == 1).isEmpty)
      let faults = try workspace.faults()
      #expect(faults == [])
    }
  }

  @Test("The row id of an insert that was rolled back is not used again", arguments: TestEngine.all)
  func undoneRowID(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      nonisolated(unsafe) var undone: Int64 = -1
      try workspace.write([Post.self]) { txn in
        if case .inserted(let object) = try txn.submit(
          Blog.PostChangeRequest.creationRequest(post(2)))
        {
          undone = object._rowid
        }
        txn.abort()
      }
      let stored = try workspace.store([post(3)])
      #expect(stored[0]._rowid > undone && undone > 0)
    }
  }

  @Test(
    "A rejected update leaves both objects as they were", arguments: TestEngine.inEveryIndexState)
  func updateToTakenValue(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let before = try workspace.store([post(1, photo: "a"), post(2, photo: "b")])
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Post._schema, using: &random)
      try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(before[0]))
        request.number = 2
        #expect(throws: TransactionError.objectAlreadyExists) { try txn.submit(request) }
        request.number = 1
        request.attachment = .photo(Blog.Photo(path: "b"))
        #expect(throws: TransactionError.objectAlreadyExists) { try txn.submit(request) }
        #expect(workspace.posts.all().underlyingArray == before)
        // The request keeps its kind and can be corrected.
        request.attachment = .photo(Blog.Photo(path: "c"))
        guard case .updated(let post) = try txn.submit(request) else {
          Issue.record("not updated")
          return
        }
        #expect(post._rowid == before[0]._rowid)
      }
      #expect(
        workspace.posts.all().map(\.attachment) == [
          .photo(.init(path: "c")), .photo(.init(path: "b")),
        ])
    }
  }
}
