"""`python -m lifecycle.cni.plugins.host_local`."""

import sys

from lifecycle.cni.plugins.host_local.plugin import main

if __name__ == "__main__":
    sys.exit(main())
