"""SLEEC, LEML, RobustXML, WSABIE, CPLST, PLST, CS, ML-CSSP: settings, parts, large corpora."""
