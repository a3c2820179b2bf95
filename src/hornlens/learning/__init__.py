"""The learners: sans-I/O generators that ask and conjecture, and the driver that answers them."""
