"""Classification and ranking of rows for measures of whole sets."""
