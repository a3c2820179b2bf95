"""What is run by hand, or by the tests: it is not part of the package."""
