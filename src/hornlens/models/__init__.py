"""Models: one file a backend, all behind one protocol. Heavy dependencies are imported inside."""
