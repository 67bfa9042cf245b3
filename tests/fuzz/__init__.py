"""Random calls and products: slow tests, of as many cases as SSKIT_FUZZ says, SSKIT_SEED on."""
