// dflat-verify: verification for as long as one likes, and the other processes that it needs.
//
//     dflat-verify all --time 300        everything, in about so many seconds
//     dflat-verify history --time 60     clients, workspaces and processes on one file
//     dflat-verify kill --count 1000     processes that are killed while they write
//     dflat-verify uploads --count 2000  processes that are killed while they send uploads
//     dflat-verify faults                a disk that fails, fills up, loses power or lies
//
// `--seed` repeats a run. The exit status is 1 if a promise is broken.

import DflatVerification

exitAfter("dflat-verify") { try VerifyCommand(CommandLine.arguments).run() }
