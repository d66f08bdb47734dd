// Dflat
