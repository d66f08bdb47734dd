// The change made by updating cases: the priority, and in every third object the tag.

import Dflat
import SQLiteDflat

func change(_ request: BenchDocChangeRequest, _ number: Int) {
  request.priority += 1000
  if number % 3 == 0 { request.tag = newTag }
}

let newTag = "a tag that was changed by the benchmark"
/// The same for the floor.
let newTagBytes: StaticString = "a tag that was changed by the benchmark"

extension Store {
  /// Opens the writer and a reader, and touches every page with both, by changing the first object.
  /// In a transaction, objects are fetched by the reader before its first change, and by the writer
  /// after it.
  func warmUp() {
    let workspace = workspace
    write(BenchDoc.self) { transaction in
      guard let doc = workspace.fetch(for: BenchDoc.self).all().first,
        let request = BenchDocChangeRequest.changeRequest(doc)
      else { return }
      change(request, 0)
      try transaction.submit(request)
      _ = workspace.fetch(for: BenchDoc.self).all()
    }
  }
}
