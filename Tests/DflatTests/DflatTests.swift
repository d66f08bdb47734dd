// DflatTests
