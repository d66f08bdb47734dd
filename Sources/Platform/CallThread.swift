// CallThread: a thread that makes calls for others.
//
// Some C libraries bind a handle to the thread that made it. The owner of such a handle makes every
// call that uses it here; the calling thread waits meanwhile. What depends on the running thread,
// such as the transaction that it is in, is the same as on the calling thread.

import Dispatch

#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// A thread on which other threads make calls, one after another. It begins with the first call,
/// and ends when its owner releases it.
package final class CallThread: Sendable {
  private let line = Line()

  package init() {}

  deinit { line.end() }

  /// Calls `body` on the thread, and waits for its end. `body` must not call this again.
  @inline(never)
  package func call<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    var result: Result<R, E>?
    make { result = Result(catching: body) }
    guard let result else { preconditionFailure("a thread did not make a call") }
    return try result.get()
  }

  private func make(_ body: () -> Void) {
    withoutActuallyEscaping(body) { line.make(Call($0)) }
  }
}

/// A call, which another thread waits for.
private final class Call {
  private var body: (() -> Void)?
  private let pointers = ThreadPointers()
  private let isDone = DispatchSemaphore(value: 0)

  init(_ body: @escaping () -> Void) { self.body = body }

  /// Makes the call.
  func make() {
    run()
    isDone.signal()
  }

  /// Leaves no reference to the closure, which is only lent.
  @inline(never)
  private func run() {
    if let body = body.take() { pointers.during(body) }
  }

  func wait() { isDone.wait() }
}

/// The calls that wait for a thread. The thread keeps it as long as it runs.
private final class Line: Sendable {
  private struct State {
    var calls = Fifo<Call>()
    var isBegun = false
    var hasEnded = false
  }

  private let state = Monitor(State())

  /// Has the thread make a call, and waits for its end.
  func make(_ call: Call) {
    state.lock()
    if !state.state.isBegun {
      state.state.isBegun = true
      begin()
    }
    state.state.calls.append(call)
    state.signal()
    state.unlock()
    call.wait()
  }

  /// Ends the thread. The last owner may release it on this very thread.
  func end() {
    state.lock()
    state.state.hasEnded = true
    state.signal()
    state.unlock()
  }

  private func begin() {
    let line = Unmanaged.passRetained(self).toOpaque()
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let status = pthread_create(&thread, nil, { Line.run($0) }, line)
    precondition(status == 0, "this process can have no more threads")
    #if canImport(Glibc)
      pthread_detach(thread)
    #else
      if let thread { pthread_detach(thread) }
    #endif
  }

  /// The thread, from its beginning to its end.
  private static func run(_ line: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let line else { preconditionFailure("a thread got nothing to do") }
    Unmanaged<Line>.fromOpaque(line).takeRetainedValue().makeCalls()
    return nil
  }

  private func makeCalls() {
    while let call = next() {
      #if canImport(ObjectiveC)
        autoreleasepool { call.make() }
      #else
        call.make()
      #endif
    }
  }

  /// Waits for a call.
  /// - Returns: nil if there will be none.
  private func next() -> Call? {
    state.lock()
    defer { state.unlock() }
    while state.state.calls.isEmpty {
      if state.state.hasEnded { return nil }
      state.wait()
    }
    return state.state.calls.popFirst()
  }
}
