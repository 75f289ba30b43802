"""``python -m patchlore``: the command line without the installed script."""

from patchlore.cli import main

raise SystemExit(main())
