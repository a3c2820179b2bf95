"""Any classifier: its features in bins, its cells decided, and the rules it obeys, proved."""
