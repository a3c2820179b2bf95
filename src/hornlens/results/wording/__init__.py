"""What is said of a result: every sentence that people read."""
