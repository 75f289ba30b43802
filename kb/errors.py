"""Errors of the archive: whole messages for a person."""

from __future__ import annotations

from patchlore.ingest.errors import PatchloreError


class ArchiveError(PatchloreError):
    """The archive can't be used: absent, locked, damaged, too new, not writable."""


class NoArchiveError(ArchiveError):
    """There is no archive at the given place."""

    #: The command line was wrong, not the data.
    exit_status = 2


class OtherVersionError(ArchiveError):
    """The archive is whole, but of another version of patchlore, or of somebody else."""


class UsageError(PatchloreError):
    """The command line asks for something that can't be meant."""

    exit_status = 2


class NotFoundError(PatchloreError):
    """Nothing in the archive has the name that was asked for."""


class GitTreeError(PatchloreError):
    """A git repository can't be read as a tree; the text says why."""


class DossierError(PatchloreError):
    """What a dossier is asked for can't be understood."""

    exit_status = 2
