"""Trees of rows: FastXML, PfastreXML and LPSR."""
