"""What models are built on is kept from telling its makers about its use."""

from __future__ import annotations

import os


def keep_private() -> None:
    """Switch telemetry off, unless the user has set it; call this before a backend is imported.

    It is done here and not when a package is imported: that changes nobody's environment.
    """
    for telemetry in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(telemetry, "1")
