// DflatSchemaTests
