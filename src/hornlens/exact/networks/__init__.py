"""Feed-forward networks of rectified linear units over levels, and bounds of what they say."""
