"""The requests to the API that start jobs: the part that is the same for each kind."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from rest_framework import status
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.response import Response as Answer
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.api import Conflict, who
from accounts.models import User
from evaluation.jobs.api import JobSerializer
from evaluation.jobs.kinds import kind_of, send_job
from evaluation.jobs.services import JobError, left_to_ask
from evaluation.models import Job
from generation.asking_serializer import AskingSerializer
from generation.call_plan import CallPlan


class NewJobSerializer(AskingSerializer):
    """The choices of a new job."""

    def plan(self) -> Any:
        """Return the plan that valid choices describe, for the service of the kind."""
        raise NotImplementedError


class StartJob(APIView):
    """The address at which jobs of one kind are started."""

    kind: ClassVar[Job.Kind]

    def start(
        self,
        serializer: type[NewJobSerializer],
        asking: Callable[[Any], CallPlan],
        request_job: Callable[[Any, User], Job],
    ) -> Answer:
        """Send the requested job to the workers, and answer with it.

        Args:
            serializer: the serializer of the choices of this kind.
            asking: the function that returns what the job of a plan would ask.
            request_job: the service that returns the job of a plan.

        Raises:
            PermissionDenied: this user may not start such jobs.
            ValidationError: a choice cannot be used.
        """
        user = who(self.request)
        if not kind_of(Job(kind=self.kind)).may_change(user):
            raise PermissionDenied("Only admins may start pulls and constructions.")
        asked = serializer(data=self.request.data)
        asked.is_valid(raise_exception=True)
        try:
            plan = asked.plan()
            request = partial(request_job, plan, user)
            asked.plan_first(left_to_ask(request, partial(asking, plan)))
            job = request()
        except JobError as error:
            if error.field is None:
                raise Conflict(str(error)) from error
            raise ValidationError({error.field: [str(error)]}) from error
        send_job(job)
        job.refresh_from_db()
        shown = JobSerializer(job, context={"request": self.request})
        answer = Answer(shown.data, status.HTTP_202_ACCEPTED)
        answer["Location"] = reverse("api:job-detail", [job.pk], request=self.request)
        return answer
