"""What is kept of a result: types, and the files they are written to and read from."""
