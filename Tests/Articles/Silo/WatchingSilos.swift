// Sources/Silo/Silo.docc/WatchingSilos.md
import Foundation
import Observation
import SQLiteDflat
import Silo

// What the article uses of SwiftUI, which Linux does not have.
@MainActor protocol View {
  associatedtype Body: View
  var body: Body { get }
}

extension Never: View {
  var body: Never { fatalError() }
}

struct Text: View {
  init(_ text: String) {}
  var body: Never { fatalError() }
}

struct ForEach<Elements>: View {
  init<Row: View>(_ elements: Elements, row: (Elements.Element) -> Row)
  where Elements: RandomAccessCollection, Elements.Element: Identifiable {}
  var body: Never { fatalError() }
}

// block 1.2

enum WatchingSilos {
  @MainActor static func live(silos: Silos) throws {
    // block 1.3
  }

  struct Table {
    func update(_ rows: [Task], inserted: [Int]) {}
  }

  static func waiting(
    users: Silo<User>, id: UUID, show: (String?) -> Void, update: @escaping @Sendable () -> Void
  ) throws {
    // block 2
  }

  static func others(path: String) {
    // block 4
  }

  static func changes(tasks: Silo<Task>, table: Table) async throws {
    // block 3
  }
}
