// dflat-verify-postgres: verification of the engine over a server, for as long as one likes, and
// the processes that it needs.
//
//     dflat-verify-postgres all --time 600         everything, in about so many seconds
//     dflat-verify-postgres all --transactions 200000
//                                                  until there were so many transactions
//     dflat-verify-postgres history --time 60      several processes on one server
//     dflat-verify-postgres faults --crashes 200 --failovers 20
//                                                  the same on a server that crashes, and whose
//                                                  standby takes over
//     dflat-verify-postgres standbys --time 60
//                                                  the same beside queries that standbys answer
//
// The servers are its own. Without a time, `all` makes the server crash 200 times and fail over 20
// times. `--seed` repeats a run. The exit status is 1 if a promise is broken.

import DflatVerification

exitAfter("dflat-verify-postgres") { try VerifyPostgresCommand(CommandLine.arguments).run() }
