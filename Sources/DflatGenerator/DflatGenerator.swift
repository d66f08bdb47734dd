// DflatGenerator
