"""Label vectors made short by a linear map, regressed, and decoded: PLST, CPLST, CS, ML-CSSP."""
