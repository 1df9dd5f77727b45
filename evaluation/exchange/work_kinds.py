"""The kind of long work that stores files: imports."""

from typing import ClassVar

from accounts.access import may_import
from accounts.models import User
from evaluation.exchange.uploads import request_cancelling
from generation.models import Import
from work.claims import GOING_ON
from work.kinds import WorkKind, WorkRefused, register_work
from work.union_rows import number, text


class ImportKind(WorkKind[Import]):
    """Imports of uploaded files. People who may import see all of them."""

    key = "import"
    noun = "import"
    model = Import
    view = "evaluation:import-progress"
    can_resume = False  # the file of an import that ended is gone
    kept = "Nothing of this file is kept."
    decided_in = (Import.State.CHECKED,)
    columns: ClassVar = {
        "name": "file_name",
        "dataset": "name",
        "slug": text(),
        "n_done": number(),
        "n_total": number(),
    }

    def may_see(self, user: User) -> bool:
        return may_import(user)

    def cancel(self, work: Import, user: User | None) -> bool:
        if work.state not in (*GOING_ON, *self.decided_in):
            return False
        request_cancelling(work)
        return True

    def resume(self, work: Import, user: User | None) -> bool:
        return False

    def delete(self, work: Import, user: User | None) -> None:
        raise WorkRefused("An import stays in the list, because it says what was stored and when.")


register_work(ImportKind())
