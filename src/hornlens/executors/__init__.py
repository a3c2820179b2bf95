"""Where models answer and runs are carried out: here, or on a cluster."""
