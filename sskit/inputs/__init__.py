"""The gate: checks what users hand over and packs it, once."""
