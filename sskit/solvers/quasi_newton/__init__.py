"""Limited-memory quasi-Newton steps on smooth surrogates."""
