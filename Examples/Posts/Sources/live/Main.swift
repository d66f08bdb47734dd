// live [--quick]: a list in the terminal that follows changes made elsewhere in the program.
//
// Three workers and a planner change jobs in transactions of their own, and know nothing of any list. The list knows nothing of
// them: it watches a query. `--quick` leaves the pauses out.

import Foundation
import SQLiteDflat

@main struct Main {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.allSatisfy({ $0 == "--quick" }) else {
      FileHandle.standardError.write(Data("usage: live [--quick]\n".utf8))
      exit(64)
    }
    let path = FileManager.default.temporaryDirectory.appending(
      path: "dflat-live-\(UUID().uuidString).db")
    defer { try? FileManager.default.removeItem(at: path) }
    let dflat = SQLiteWorkspace(filePath: path.path, fileProtectionLevel: .noProtection)
    dflat.errorHandler = { error in
      FileHandle.standardError.write(Data("live: \(error)\n".utf8))
    }

    // The eight most urgent jobs that are not done.
    let urgent = dflat.fetch(for: Job.self).where(
      Job.state != .done, limit: .limit(8), orderBy: [Job.urgency.descending, Job.name.ascending])
    let changes = dflat.changes(of: urgent)
    let list = Task {
      var screen = Screen()
      for await change in changes { screen.show(change) }
    }

    let pause: Duration = arguments.isEmpty ? .milliseconds(150) : .zero
    await Factory(dflat: dflat, pause: pause).run()
    await dflat.shutdown(flags: .truncate)
    list.cancel()
    await list.value
  }
}
