"""The raters that an argument of a command names."""

from collections.abc import Sequence

from django.core.management.base import CommandError

from accounts.models import User
from annotation.forms.setup import accounts_of_raters


def raters_called(names: Sequence[str]) -> list[User]:
    """Return the raters with these codes or user names; all raters for 'all'.

    Raises:
        CommandError: a name is not that of a user who may rate.
    """
    accounts = list(accounts_of_raters())
    if "all" in names:
        return accounts
    by_name = {user.username: user for user in accounts}
    by_name |= {user.rater_code: user for user in accounts}
    for name in names:
        if name not in by_name:
            raise CommandError(
                f"No rater has the code or user name {name!r}. An admin gives people the rater "
                "role under Users."
            )
    return list(dict.fromkeys(by_name[name] for name in names))
