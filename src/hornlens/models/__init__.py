"""Models: one file a backend, all behind one protocol. Heavy dependencies are imported inside.

What they are built on is kept from telling its makers about it.
"""

import os

for _telemetry in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
    os.environ.setdefault(_telemetry, "1")
