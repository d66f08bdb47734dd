// DflatTestSupport
