"""Low-rank empirical risk minimisation, alone (LEML) and with a sparse part (RobustXML)."""
