// Factory: those who change jobs. None of them knows who watches.

import SQLiteDflat

struct Factory: Sendable {
  let dflat: SQLiteWorkspace
  let pause: Duration

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await plan() }
      for number in 1...3 { group.addTask { await work(number) } }
    }
  }

  /// Brings new jobs, and changes its mind about old ones.
  private func plan() async {
    for number in 1...12 {
      await dflat.performChanges([Job.self]) { txn in
        let name = "job \(number)"
        txn.try(
          submit: JobChangeRequest.creationRequest(
            Job(name: name, urgency: Int32(number * 37 % 20))))
        let other = Job(name: "job \(number / 2)")
        if number % 3 == 0, let request = JobChangeRequest.changeRequest(other) {
          request.urgency += 10
          txn.try(submit: request)
        }
      }
      await rest(3)
    }
  }

  /// Takes the most urgent job that waits, again and again, until there is none for a while.
  private func work(_ number: Int) async {
    var idle = 0
    while idle < 20 {
      guard let job = await take() else {
        idle += 1
        await rest(2)
        continue
      }
      idle = 0
      for progress: Int32 in [30, 60, 100] {
        await rest(number + 1)
        await change(job) {
          $0.progress = progress
          if progress == 100 { $0.state = .done }
        }
      }
    }
  }

  private func take() async -> Job? {
    // Nobody else takes it: the types of a transaction are its own until it ends.
    try? await dflat.write(Job.self) { txn -> Job? in
      let waiting = try txn.fetch(for: Job.self).where(
        Job.state == .waiting, limit: .limit(1), orderBy: [Job.urgency.descending])
      guard let job = waiting.first, let request = JobChangeRequest.changeRequest(job) else {
        return nil
      }
      request.state = .running
      try txn.submit(request)
      return job
    }
  }

  private func change(_ job: Job, _ body: @escaping @Sendable (JobChangeRequest) -> Void) async {
    await dflat.performChanges([Job.self]) { txn in
      guard let request = JobChangeRequest.changeRequest(job) else { return }
      body(request)
      txn.try(submit: request)
    }
  }

  private func rest(_ steps: Int) async {
    if pause == .zero { return await Task.yield() }
    try? await Task.sleep(for: pause * steps)
  }
}
