"""An image among the files of a commit, as bytes."""

from __future__ import annotations

from config.errors import Invalid, NotFound
from review import assets
from review.git import catfile, objects
from review.git.commits import Commit, shown_path
from review.git.repository import Repository


def of(
    repository: Repository, commit: Commit, path: str | None, side: str | None
) -> tuple[bytes, str]:
    """An image that the commit changes, as it was (LEFT) or is (RIGHT): its bytes and type.

    NotFound when the commit does not change it, or the side holds no image of at most 5 MB.
    """
    if path is None:
        raise Invalid('"path" is required')
    if side not in (None, "LEFT", "RIGHT"):
        raise Invalid('"side" must be LEFT or RIGHT')
    for changed in commit.files:
        if path in (changed.path, shown_path(changed.path)):
            oid = changed.old_oid if side == "LEFT" else changed.new_oid
            known = oid is not None and oid in changed.blobs
            data = _small_blob(repository, oid) if oid and known else None
            kind = assets.kind_of(data) if data else None
            if data and kind:
                return data, kind
            raise NotFound("No image of at most 5 MB on this side")
    raise NotFound('"path" is not a file changed by this commit')


def _small_blob(repository: Repository, oid: str) -> bytes | None:
    found = dict(catfile.infos(repository, [oid]))[oid]
    if found is None or found[1] > assets.LIMIT:
        return None
    return objects.blob(repository, oid)
