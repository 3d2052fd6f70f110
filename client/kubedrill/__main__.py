"""`python -m kubedrill`: the command without its console script."""

import sys

from kubedrill.cli import main

sys.exit(main())
