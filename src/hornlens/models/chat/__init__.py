"""Chat models behind an endpoint: how they are asked, at what pace, and what that may cost."""
