// Two types that would share records unintentionally.

import Empire
import Foundation
import Testing

private enum Left {
  @IndexKeyRecord(keyPrefix: 900, "id")
  struct Shared: Equatable { let id: Int }
}

private enum Right {
  @IndexKeyRecord(keyPrefix: 900, "id")
  struct Shared: Equatable { let id: Int }
}

/// Another file has a type of the same name.
@IndexKeyRecord("id")
private struct Twin { let id: Int }

struct EqualPrefixTests {
  @Test("Types with equal hashed tags are rejected at the first use of the second one")
  func accident() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.insert(Twin(id: 1))
      for use in SecondTwin.uses {
        let error = #expect(throws: StoreError.self) { try store.withTransaction { try use($0) } }
        guard case .equalPrefixes(let first, let second, Twin.keyPrefix)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(first.hasSuffix("Twin") && second.hasSuffix("Twin") && first != second)
      }
      #expect(try store.count(of: Twin.self) == 1)
    }
    // In another directory, the first type has not been used.
    try withTemporaryDirectory { try Store(url: $0).withTransaction { try SecondTwin.uses[0]($0) } }
  }

  @Test("Explicit tags may be equal: an older layout reads the same records")
  func onPurpose() throws {
    try withTemporaryDirectory { directory in
      let store = try Store(url: directory)
      try store.insert(Left.Shared(id: 1))
      #expect(try store.selectAll(of: Right.Shared.self) == [Right.Shared(id: 1)])
    }
  }
}
