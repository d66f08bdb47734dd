// Compares our verifier and readers with those of FlatBuffers for C++, over random buffers: see
// Tests/DflatTests/Differences.
//
//   fuzz-differences SECONDS BUFFERS [SEED]    goes on until both are reached
//
// Each round prints its seed if anything is found; that seed alone does the round again.

import DflatTestSupport
import Foundation

@main
enum FuzzDifferences {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst().map { UInt64($0) }
    guard (2...3).contains(arguments.count), let seconds = arguments[0], let count = arguments[1]
    else {
      print("usage: fuzz-differences SECONDS BUFFERS [SEED]")
      exit(64)
    }
    guard CxxJudge.isAvailable else {
      print("fuzz-differences: flatc, clang++ or the headers of flatbuffers are missing")
      exit(1)
    }
    var differences = Differences(try CxxJudge.shared())
    if arguments.count == 3, let seed = arguments[2] {
      var random = SeededGenerator(seed: seed)
      try differences.run(&random)
      return print(differences.summary)
    }
    let end = Date(timeIntervalSinceNow: TimeInterval(seconds))
    var seeds = SeededGenerator(seed: .random(in: 0...(.max)))
    print("differences: the run's seed is \(seeds.seed)")
    while Date() < end || differences.buffers < count {
      for _ in 0..<1_000 {
        let seed = seeds.next()
        var random = SeededGenerator(seed: seed)
        do { try differences.run(&random) } catch {
          print("differences: seed \(seed): \(error)")
          exit(1)
        }
      }
    }
    print("differences: \(differences.summary)")
  }
}
