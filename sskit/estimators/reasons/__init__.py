"""Why a model says what it says: its strongest weights by name, and what speaks for one label."""
