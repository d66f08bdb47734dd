// Sources/Dflat/Dflat.docc/GettingStarted.md
// block 3
