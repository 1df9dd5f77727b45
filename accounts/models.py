"""Users, their sign-in links and API tokens, and the audit trail of what they changed."""

import secrets

from django.contrib.auth.models import AbstractUser
from django.db import connection, models
from django.utils import timezone
from django.utils.functional import cached_property

# Without 0/O, 1/I/L and 5/S, because people read codes aloud and type them.
CODE_LETTERS = "ABCDEFGHJKMNPQRTUVWXYZ2346789"


def new_rater_code() -> str:
    """Return a random code such as 'R-7K2QX9', which pages and exports show instead of a name."""
    return "R-" + "".join(secrets.choice(CODE_LETTERS) for _ in range(6))


GROUP_NAMES = """
    SELECT name FROM auth_group JOIN accounts_user_groups ON group_id = auth_group.id
    WHERE user_id = %s
"""


class User(AbstractUser):
    """One person with an account."""

    rater_code = models.CharField(max_length=16, unique=True, default=new_rater_code)
    # WCAG 2.1.4: people who use speech input, or press keys by mistake, can switch off
    # single-letter keys.
    has_letter_keys = models.BooleanField(default=True)
    # How often all sessions of this person were ended. A session from before stays closed.
    n_session_ends = models.PositiveIntegerField(default=0)
    # When this person last opened the first page, and the moment since which it lists what has
    # ended: the end of their visit before.
    home_seen_at = models.DateTimeField(null=True, blank=True)
    home_news_since = models.DateTimeField(null=True, blank=True)
    # People who made their account by a study link come back with a code. Only its hash is kept.
    return_code_hash = models.CharField(max_length=64, blank=True, editable=False)
    # The key of the form by which they joined. A form that is sent twice makes one account, and
    # until the key ends it signs in the browser that sent it.
    join_key = models.UUIDField(null=True, blank=True, unique=True, editable=False)
    join_key_ends_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta(AbstractUser.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["return_code_hash"],
                condition=~models.Q(return_code_hash=""),
                name="user_return_code_once",
            ),
        ]

    def _get_session_auth_hash(self, secret: str | bytes | None = None) -> str:
        """Return the value that a session must hold; it got the value of its first moment."""
        of_password: str = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        return f"{of_password}-{self.n_session_ends}" if self.n_session_ends else of_password

    @cached_property
    def group_names(self) -> frozenset[str]:
        """The names of this person's groups. They take one query, or none if prefetched.

        Every page needs them. In plain SQL, that takes a fourth of the time.
        """
        if "groups" in getattr(self, "_prefetched_objects_cache", {}):
            return frozenset(group.name for group in self.groups.all())
        with connection.cursor() as cursor:
            cursor.execute(GROUP_NAMES, [self.pk])
            return frozenset(name for (name,) in cursor.fetchall())


class Archivable(models.Model):
    """A thing that can be archived: lists and menus leave it out, and everything else has it."""

    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None


class SignInLink(models.Model):
    """One link that signs one person in, once. Only a hash of its token is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="sign_in_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"sign-in link {self.pk} of user {self.user_id}"


class AuditEntry(models.Model):
    """One thing that a person did to accounts, data or studies. It is never edited or deleted."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    action = models.CharField(max_length=64)  # such as "dataset.deleted"
    subject = models.CharField(max_length=200)  # the name or id of the changed object at that time
    details = models.JSONField(default=dict)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class ApiToken(models.Model):
    """One key with which a program acts as one person. Only a hash of it is kept."""

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)  # the purpose, so that people revoke the right token
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)  # updated once a minute at most
    is_read_only = models.BooleanField(default=False)
    ends_on = models.DateField(null=True, blank=True)  # the last day (UTC); None: until revoked

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="api_token_name_once_per_user"),
        ]

    def __str__(self) -> str:
        return f"API token {self.pk} of user {self.user_id}"

    @property
    def has_ended(self) -> bool:
        """Whether the token's last day is over."""
        return self.ends_on is not None and self.ends_on < timezone.now().date()
