// Histories of several processes on one server, and on one that crashes and whose standby takes
// over. `make verify-postgres` runs the same for longer.

import DflatTestSupport
import DflatVerification
import PostgresTestSupport
import PostgresVerification
import Testing

@Suite("Histories of processes on a server", .serialized)
struct ServerHistoryTests {
  @Test(
    "An order explains what several processes saw",
    arguments: allWorkloads(spaces: cellTypes.count).map(\.name))
  func processes(_ name: String) throws {
    let seed = testSeed()
    let url = try TestCluster.shared().url
    try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(in: directory, command: verifyCommand, seed: seed)
      for _ in 0..<(isLongRun ? 10 : 1) {
        let violations = try campaign.run(
          on: url, steps: isLongRun ? 3000 : 300, workload: name,
          isLaborious: name == "list-append" ? true : nil)
        #expect(violations.isEmpty, "DFLAT_SEED=\(seed)")
      }
      #expect(campaign.transactions > 200)
    }
  }

  @Test("Beside histories, standbys answer queries as they promise")
  func standbys() throws {
    let seed = testSeed()
    let server = try FailingServer(seed: seed)
    defer { server.cluster.end() }
    let second = try server.cluster.addStandby()
    defer { second.end() }
    try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(in: directory, command: verifyCommand, seed: seed)
      try server.failing(.init(crashes: 2, failovers: 0)) {
        let violations = try campaign.run(
          on: server.cluster.url(with: second), steps: isLongRun ? 3000 : 600,
          workload: "list-append", readsFromStandbys: true)
        #expect(violations.isEmpty, "DFLAT_SEED=\(seed)")
      }
      #expect(campaign.standbyReads > 10)
    }
  }

  @Test("An old primary that comes back after a failover is used by none")
  func returns() throws {
    let seed = testSeed()
    let server = try FailingServer(seed: seed)
    defer { server.cluster.end() }
    try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(in: directory, command: verifyCommand, seed: seed)
      while server.counts.returns < (isLongRun ? 10 : 1) {
        try server.failing(.init(crashes: 0, failovers: 0, returns: 1)) {
          let violations = try campaign.run(
            on: server.cluster.asynchronousURL, steps: 3000, workload: "list-append")
          #expect(violations.isEmpty, "DFLAT_SEED=\(seed)")
        }
      }
    }
  }

  @Test("Crashes and a failover lose nothing, double nothing, and break no order")
  func faults() throws {
    let seed = testSeed()
    let server = try FailingServer(seed: seed)
    defer { server.cluster.end() }
    try withTemporaryDirectory { directory in
      var campaign = ServerCampaign(in: directory, command: verifyCommand, seed: seed)
      let (crashes, failovers) = isLongRun ? (50, 5) : (4, 1)
      while server.counts.crashes < crashes || server.counts.failovers < failovers {
        let counts = server.counts
        let plan = FailingServer.Plan(
          crashes: max(0, crashes - counts.crashes),
          failovers: max(0, failovers - counts.failovers))
        try server.failing(plan) {
          let violations = try campaign.run(
            on: server.cluster.url, steps: 2000, workload: "list-append")
          #expect(violations.isEmpty, "DFLAT_SEED=\(seed)")
        }
      }
      #expect(campaign.transactions > 500)
    }
  }
}
