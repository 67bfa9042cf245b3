"""Classification of rows."""
