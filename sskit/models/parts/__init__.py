"""Places of parts on springs."""
