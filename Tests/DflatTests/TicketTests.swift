// The order of jobs that name several queues.

import DflatTestSupport
import Dispatch
import Platform
import Testing

@testable import Dflat

@Suite("Tickets")
struct TicketTests {
  @Test("Jobs with a queue in common run in ticket order, and none waits for ever")
  func order() {
    for round in 0..<(isLongRun ? 20_000 : 2_000) {
      var random = SeededGenerator(seed: UInt64(round))
      var tickets = TicketQueues()
      let queues = (0..<Int.random(in: 1...5, using: &random)).map { _ in tickets.makeQueue() }
      var named: [[Int]] = []
      var waiting: [(number: Int, ticket: Ticket)] = []
      var ready: [(number: Int, ticket: Ticket)] = []
      var ended: [Int] = []
      func take() {
        let choice = queues.indices.filter { _ in Bool.random(using: &random) }.shuffled(
          using: &random)
        let mine = choice.isEmpty ? [0] : choice
        let ticket = Ticket(
          queue: mine.first.map { queues[$0] }, others: mine.dropFirst().map { queues[$0] },
          work: .job { .nothing })
        let entry = (named.count, ticket)
        named.append(mine)
        if tickets.take(ticket) { ready.append(entry) } else { waiting.append(entry) }
      }
      func isReady(_ freed: TicketQueues.Freed) {
        for freed in freed.others + (freed.first.map { [$0] } ?? []) {
          let index = waiting.firstIndex { $0.ticket === freed }
          #expect(index != nil, "seed \(round): a ticket became ready twice")
          if let index { ready.append(waiting.remove(at: index)) }
        }
      }
      for _ in 0..<30 {
        if Bool.random(using: &random) || ready.isEmpty {
          take()
        } else if !waiting.isEmpty, Int.random(in: 0..<4, using: &random) == 0 {
          let index = Int.random(in: waiting.indices, using: &random)
          let withdrawn = waiting.remove(at: index)
          ended.append(withdrawn.number)
          isReady(tickets.withdraw(withdrawn.ticket))
          // A second withdrawal has no effect, and a ready ticket stays.
          #expect(tickets.withdraw(withdrawn.ticket).isEmpty)
          #expect(ready.allSatisfy { tickets.withdraw($0.ticket).isEmpty })
        } else {
          let next = ready.remove(at: .random(in: ready.indices, using: &random))
          // The model: a ticket is ready if no earlier unfinished one names any of its queues.
          for earlier in 0..<next.number
          where !Set(named[earlier]).isDisjoint(with: named[next.number]) {
            #expect(ended.contains(earlier), "seed \(round): \(next.number) before \(earlier)")
          }
          ended.append(next.number)
          isReady(tickets.leave(next.ticket))
        }
        #expect(tickets.count == ready.count + waiting.count)
        #expect(waiting.isEmpty || !ready.isEmpty, "seed \(round): all wait")
        // The model again: a waiting ticket has an earlier one ahead of it.
        for waiter in waiting {
          let hasOneBefore = (0..<waiter.number).contains { earlier in
            !ended.contains(earlier)
              && !Set(named[earlier]).isDisjoint(with: named[waiter.number])
          }
          #expect(hasOneBefore, "seed \(round): \(waiter.number) waits for nobody")
        }
      }
    }
  }

  @Test("A queue of any length is first in, first out")
  func fifo() {
    var random = SeededGenerator(seed: 7)
    var fifo = Fifo<Int>()
    var model: [Int] = []
    for step in 0..<20_000 {
      if Int.random(in: 0..<1000, using: &random) < (step < 10_000 ? 700 : 300) {
        fifo.append(step)
        model.append(step)
      } else if !model.isEmpty, Int.random(in: 0..<10, using: &random) == 0 {
        let element = model.remove(at: .random(in: model.indices, using: &random))
        fifo.remove { $0 == element }
      } else {
        #expect(fifo.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
      }
      #expect(fifo.count == model.count)
    }
  }

  /// Types that only name queues.
  private let types = [Blog.Post._schema, Note._schema, Kit.Item._schema, Kit.Slot._schema]

  @Test("Jobs of different queues run concurrently, as many as there are queues")
  func parallel() {
    let scheduler = TicketScheduler(jobQueues: JobQueues(target: nil), isSerial: false)
    let inside = DispatchGroup()
    let done = DispatchGroup()
    for _ in types { inside.enter(); done.enter() }
    for type in types {
      _ = scheduler.enqueue([type]) {
        inside.leave()
        // Each job waits until all are running.
        inside.wait()
        done.leave()
        return .nothing
      }
    }
    done.expect("the end")
  }

  @Test("Callers that do their own work take turns with jobs, in ticket order")
  func own() throws {
    let scheduler = TicketScheduler(jobQueues: JobQueues(target: nil), isSerial: false)
    let order = Mutex<[Int]>([])
    let done = DispatchGroup()
    let first = try #require(scheduler.enter([types[0]], .own(DispatchSemaphore(value: 0))))
    #expect(first.isReady)
    for number in 1...20 {
      done.enter()
      if number % 3 == 0 {
        _ = scheduler.enqueue([types[0]]) {
          order.withLock { $0.append(number) }
          done.leave()
          return .nothing
        }
      } else {
        let turn = DispatchSemaphore(value: 0)
        let (ticket, isReady) = try #require(scheduler.enter([types[0]], .own(turn)))
        #expect(!isReady)
        DispatchQueue(label: "caller").async {
          turn.wait()
          order.withLock { $0.append(number) }
          scheduler.end(ticket, .nothing)
          done.leave()
        }
      }
    }
    scheduler.end(first.ticket, .nothing)
    done.expect("the end")
    #expect(order.withLock { $0 } == Array(1...20))
    _ = scheduler.close()
    #expect(scheduler.enter([types[0]], .own(DispatchSemaphore(value: 0))) == nil)
  }

  @Test(
    "Notices run on the thread that finds them ready, however many wait"
  )
  func notices() {
    let scheduler = TicketScheduler(jobQueues: JobQueues(target: nil), isSerial: false)
    let order = Mutex<[Int]>([])
    let count = 100_000
    let first = scheduler.place([types[0], types[1]], .notice { .nothing })
    for number in 0..<count {
      // Each makes two others ready, so recursion would need a deep stack.
      let named: TypeSet = number % 2 == 0 ? [types[0], types[1]] : [types[number / 2 % 2]]
      let waiting = scheduler.place(
        named,
        .notice {
          order.withLock { $0.append(number) }
          return .nothing
        })
      #expect(waiting == nil)
    }
    let done = DispatchSemaphore(value: 0)
    let job = scheduler.place(
      [types[0], types[1]],
      .job {
        done.signal()
        return .nothing
      })
    #expect(job == nil)
    if let first { scheduler.start(first) }
    #expect(order.withLock { $0 } == Array(0..<count))
    done.expect("the end")
  }
}
