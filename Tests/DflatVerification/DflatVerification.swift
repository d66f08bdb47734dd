// DflatVerification: what holds the promises of transactions against the running code.
//
//  - `History`: what clients of a store saw, in a form that says nothing of the store; written by `HistoryRun`, from threads,
//    several workspaces and several processes;
//  - `Checking`: whether a history can be explained by transactions that ran one at a time, and the shortest proof if not;
//  - `Workloads`: what the clients do;
//  - `Stores`: workspaces behind a small protocol, and a model in memory that can be broken in known ways, so that the checker
//    is seen to bite;
//  - `Kill`: processes that are killed while they write;
//  - `Faults`: a disk that fails, fills up, loses power or lies.
//
// Tests run all of it for a short time; the command `dflat-verify` (`make verify`) as long as one likes.

/// The namespace of the schemas.
public enum Verify {}
