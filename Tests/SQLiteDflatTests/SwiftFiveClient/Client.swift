// A program in Swift 5 mode, written as before Sendable existed. The test is that it compiles;
// SwiftFiveTests checks that it works.

import DflatTestSupport
import Foundation
import SQLiteDflat

/// A type without any annotation for concurrency.
final class Journal {
  var lines: [String] = []
}

/// Holds a workspace as programs do.
public class Keeper {
  var dflat: Workspace?
  let journal = Journal()
  var lastResult: UpdatedObject<Blog.Post>?
  var subscription: Workspace.Subscription?

  /// Opens the file at this path.
  public init(path: String) {
    dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
  }

  /// Writes with closures that capture values which are not Sendable, and assign to captured
  /// variables.
  public func run() -> [String] {
    var inserted = 0
    var lines: [String] = []
    let journal = self.journal
    let formatter = NSMutableString(string: "")
    let group = DispatchGroup()
    group.enter()
    dflat?.performChanges(
      [Blog.Post.self, Note.self],
      changesHandler: { [weak self] transactionContext in
        for number in 0..<3 {
          let request = Blog.PostChangeRequest.creationRequest()
          request.site = "five"
          request.number = Int32(number)
          guard let result = try? transactionContext.submit(request) else { continue }
          if case let .inserted(post) = result { lines.append("\(post.site) \(post.number)") }
          self?.lastResult = result
          inserted += 1
          journal.lines.append("inserted")
          formatter.append("x")
        }
        self?.helper(transactionContext)
      }
    ) { success in
      lines.append("success \(success) \(inserted)")
      group.leave()
    }
    group.wait()
    dflat?.performChanges([Note.self], changesHandler: { _ in inserted += 1 })
    dflat?.performChanges([Note.self]) { txn in
      inserted += 1
      _ = txn.abort()
    }
    let workspace: Workspace = dflat!
    let found = workspace.fetch(for: Blog.Post.self).where(
      Blog.Post.site == "five" && Blog.Post.number > 0, orderBy: [Blog.Post.number.descending])
    lines += found.map { "\($0.number)" }
    subscription = dflat?.subscribe(fetchedResult: found) { [weak self] updated in
      inserted += updated.count
      journal.lines.append("told")
      self?.journal.lines.append("told")
    }
    subscription?.cancel()
    if let first = found.first {
      let watching: WorkspaceSubscription = workspace.subscribe(object: first) { event in
        switch event {
        case .updated(let post): journal.lines.append("\(post.number)")
        case .deleted: journal.lines.append("gone")
        }
      }
      watching.cancel()
    }
    workspace.fetchWithinASnapshot { lines.append("\(found.count)") }
    lines += remember(workspace)
    dflat?.shutdown(flags: [.vacuum, .truncate])
    dflat?.shutdown { lines.append("down") }
    dflat?.shutdown()
    return lines + ["\(journal.lines.count)", "\(inserted)", formatter as String]
  }

  /// Uses the dictionary in the forms that programs use.
  private func remember(_ workspace: Workspace) -> [String] {
    let journal = Journal()
    var d: WorkspaceDictionary = workspace.dictionary
    let watching: Workspace.Subscription = d.subscribe("count", of: Int.self) { event in
      switch event {
      case .initial(let value): journal.lines.append("\(value ?? 0)")
      case .updated(let value): journal.lines.append("\(value)")
      case .deleted: journal.lines.append("none")
      }
    }
    dflat?.dictionary["count"] = 1
    d["count"] = d["count", default: 0] + 1
    d["count"] = nil as Int?
    watching.cancel()
    d["theme"] = "dark"
    d["note"] = Note(key: 7)
    let theme: String? = dflat?.dictionary["theme"]
    let note = d["note", Note.self]
    return journal.lines + [theme ?? "", d["theme", default: "light"], "\(note?.key ?? 0)"]
  }

  private func helper(_ context: TransactionContext) {
    do {
      let result: UpdatedObject = try context.submit(
        NoteChangeRequest.creationRequest(Note(key: 5)))
      switch result {
      case .inserted(let note): journal.lines.append("note \(note.key)")
      case .updated, .identity, .deleted: break
      }
    } catch TransactionError.objectAlreadyExists {
      journal.lines.append("twice")
    } catch {
      journal.lines.append("\(error)")
    }
  }

  /// The same from an asynchronous function.
  public func runAsync(path: String) async -> Bool {
    var count = 0
    dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
    let committed = await dflat!.performChanges([Blog.Post.self]) { txn in count += 1 }
    await dflat?.performChanges([Blog.Post.self]) { txn in count += 1 }
    await dflat?.shutdown()
    return committed && count == 2
  }
}
