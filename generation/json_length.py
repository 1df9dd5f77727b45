"""A database function that counts the entries of a list in a JSON column."""

from django.db.models import Func, IntegerField


class JsonLength(Func):
    """The number of entries of a JSON list."""

    function = "JSON_ARRAY_LENGTH"
    output_field = IntegerField()

    def as_postgresql(self, compiler, connection, **more):  # type: ignore[no-untyped-def]
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **more)
