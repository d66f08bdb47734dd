// Watching a file: what was committed since the last look.
//
//  - A look costs a lock. Only if anything was committed, the watched types are read again and
//    compared with what is in memory: their rows as they were.
//  - A watch reads all types in one state. Several transactions between two looks are one
//    difference.
//  - A program that looks on for long follows: it reads in short portions, each of which is a state
//    of its own, and keeps no more in memory than it was allowed to.

import Dflat

extension DataStore {
  /// Reports what programs commit, until a signal is given. Nothing is written.
  ///
  /// What several transactions have changed between two looks is reported as one change, and what
  /// was undone in between is not seen. The objects of the types are kept in memory.
  ///
  /// - Parameters:
  ///   - names: The types; nil for all of which something is known.
  ///   - milliseconds: The time between two looks.
  ///   - stop: Ends the watch.
  ///   - began: Called once everything was read that later states are compared with.
  ///   - body: Called with each change: by type, in the order in which the objects were stored, the
  ///     deleted ones first. An error that it throws ends the watch.
  /// - Throws: ``ToolError`` if a type is not there, nothing is known of it but its bytes, or the
  ///   file cannot be read; the errors of `body`.
  public func watch(
    types names: [String]? = nil, every milliseconds: Int = 100, until stop: StopSignal,
    began: () throws -> Void = {}, _ body: (ObjectChange) throws -> Void
  ) throws {
    let wanted = try names?.map { try type(named: $0) } ?? types.filter { $0.entity != nil }
    var watched = try wanted.map { WatchedType(name: $0.name, entity: try $0.requireEntity()) }
    try atEachCommit(every: milliseconds, until: stop) { isFirst in
      var changes: [ObjectChange] = []
      let before = watched
      do {
        try core.fetchWithinASnapshot { () throws in
          for place in watched.indices {
            var others: [ObjectChange] = []
            var memory = Int.max
            try watched[place].read(core, comparing: !isFirst, keeping: &memory) { kind, make in
              if kind == .deleted { changes.append(try make()) } else { others.append(try make()) }
            }
            changes += others
          }
        }
      } catch let error as StorageError where error.isOfChangedFile {
        // A program has begun to use the file while it was read without locks.
        watched = before
        return false
      }
      if isFirst { try began() }
      for change in changes { try body(change) }
      return true
    }
  }

  /// Answers a query now, and again whenever its answer has changed, until a signal is given.
  ///
  /// - Parameters:
  ///   - milliseconds: The time between two looks.
  ///   - stop: Ends the watch.
  ///   - ask: Asks this file.
  ///   - body: Called with each answer that differs from the one before.
  /// - Throws: The errors of `ask` and `body`; ``ToolError`` if the file cannot be read.
  public func watch<Answer: Equatable>(
    every milliseconds: Int = 100, until stop: StopSignal, asking ask: () throws -> Answer,
    _ body: (Answer) throws -> Void
  ) throws {
    var last: Answer?
    try atEachCommit(every: milliseconds, until: stop) { _ in
      let answer = try ask()
      if answer != last { try body(answer) }
      last = answer
      return true
    }
  }

  /// Reports what programs commit, for a page that shows it, until a signal is given. Unlike a
  /// ``watch(types:every:until:began:_:)`` it never reads for long at a time, takes notice of types
  /// that are new, and keeps a limited part of the objects in memory. Of objects beyond it only
  /// digests are kept: that they were changed is seen, and not what.
  ///
  /// - Parameters:
  ///   - milliseconds: The time between two looks. Looks that take long are made less often.
  ///   - memory: How many bytes of objects are kept.
  ///   - limit: How many changes of one look are reported one by one.
  ///   - stop: Ends it.
  ///   - began: Called once everything was read that later states are compared with.
  ///   - noticed: Called as soon as a commit is noticed, before it is known what was changed.
  ///   - body: Called after each look that has found changes. An error that it throws ends it.
  /// - Throws: ``ToolError`` if the file cannot be read; the errors of `body`.
  public func follow(
    every milliseconds: Int = 100, keeping memory: Int = 64 << 20, reportingAtMost limit: Int = 200,
    until stop: StopSignal, began: () throws -> Void = {}, noticed: () throws -> Void = {},
    _ body: (CommittedChanges) throws -> Void
  ) throws {
    var followed: [WatchedType] = []
    let clock = ContinuousClock()
    var notBefore = clock.now
    try atEachCommit(every: milliseconds, until: stop, noticed: noticed) { isFirst in
      let start = clock.now
      if start < notBefore { return false }
      var changes = CommittedChanges()
      var rest = memory
      try refresh()
      followed = types.compactMap { type in
        guard let entity = type.entity else { return nil }
        guard var known = followed.first(where: { $0.entity.table == type.table }) else {
          return WatchedType(name: type.name, entity: entity)
        }
        known.entity = entity
        return known
      }
      for place in followed.indices {
        try followed[place].read(core, comparing: !isFirst, keeping: &rest) { _, make in
          changes.count += 1
          if changes.changes.count < limit { changes.changes.append(try make()) }
        }
      }
      if isFirst { try began() }
      if changes.count > 0 { try body(changes) }
      // Following must not take most of a processor, however fast programs commit.
      let end = clock.now
      notBefore = end + start.duration(to: end) * 3
      return true
    }
  }

  /// Calls `body` now, and after commits, until it returns that it has read.
  /// - Parameter noticed: Called once for each commit that is noticed.
  private func atEachCommit(
    every milliseconds: Int, until stop: StopSignal, noticed: () throws -> Void = {},
    _ body: (_ isFirst: Bool) throws -> Bool
  ) throws {
    var seen: AnyHashable?
    var last: AnyHashable?
    var isFirst = true
    let marks = _commitMarks()
    defer { marks.close() }
    repeat {
      // Asked before reading: what is committed meanwhile is seen by the next look.
      let now = try withToolErrors { try marks.mark() }
      if !isFirst, let now, now != last { try noticed() }
      last = now ?? last
      if isFirst || now == nil || now != seen, try withToolErrors({ try body(isFirst) }) {
        isFirst = false
        seen = now
      }
    } while !stop.wait(milliseconds: milliseconds)
  }
}
