// DflatVerification: checks the guarantees of transactions on running code.
//
//  - `History`: what clients of a store observed, in a form that is independent of the store;
//    recorded by `HistoryRun`, from threads, several workspaces and several processes;
//  - `Checking`: whether a history can be explained by transactions that ran one at a time, and the
//    shortest proof if not;
//  - `Workloads`: what the clients do;
//  - `Stores`: workspaces behind a small protocol, and an in-memory model that can be broken in
//    known ways, to show that the checker finds violations;
//  - `Kill`: processes that are killed while they write;
//  - `Faults`: a disk that fails, fills up, loses power or reports false successes.
//
// Tests run all of it for a short time; the command `dflat-verify` (`make verify`) runs as long as
// requested.

/// The namespace of the schemas.
public enum Verify {}
