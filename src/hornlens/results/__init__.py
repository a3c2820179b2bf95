"""Results: typed, versioned documents, and what is done with them: comparing, evidence."""
