"""Search for demonstrations that make a language model rate as the raters of one setup do.

The search goes once through the examples of the setup, in an order that the seed decides. It tries
each example as the next demonstration, and keeps it if it lowers the error over the other examples.
Every prompt that was tried is stored. The command needs no worker. If a search was stopped, give
the same command again: it goes on where it was.
"""

from argparse import RawDescriptionHelpFormatter
from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Study
from evaluation.jobs.command import do_here
from evaluation.jobs.services import JobError
from evaluation.models import Job
from evaluation.runs.choices import precisions_of
from evaluation.runs.model_options import add_model_arguments, spec_from
from evaluation.runs.prompts import PROMPTED
from evaluation.runs.services.job_calls import search_asking
from evaluation.runs.services.prompt_search import SearchPlan, request_prompt_search, slice_of
from generation.choices.arguments import add_arguments, given_from
from generation.choices.declaration import ChoiceError
from generation.management.asking_command import AskingCommand
from generation.management.named import named
from generation.model_specs import ModelSpec
from work.amounts import UNDEFINED

EXAMPLE = """examples:
  manage.py search_prompt --study pilot --setup "t=0.7, no evidence" --metric sensible \\
      --server http://localhost:8000/v1 --model qwen --name pilot-warm --n-examples 30
  manage.py run_metric sensible --study pilot --model qwen --prompt pilot-warm
"""


class Command(AskingCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLE
        parser.add_argument(
            "--study",
            required=True,
            help="Name or slug of a study that asks the question of the metric.",
        )
        parser.add_argument(
            "--setup",
            required=True,
            help="Name of one of its setups. Its rated responses are the examples.",
        )
        parser.add_argument(
            "--metric",
            choices=PROMPTED,
            default=PROMPTED[0],
            help=f"The metric that the prompt is for. Default: {PROMPTED[0]}.",
        )
        parser.add_argument(
            "--name", required=True, help="Name of the prompt that the search makes."
        )
        add_arguments(parser, SearchPlan)
        add_model_arguments(parser)

    def handle(self, **options: Any) -> None:
        try:
            plan = _plan(options)
            n_left_out = slice_of(plan).n_outside_full_share
            if n_left_out:
                self.stderr.write(
                    f"{n_left_out:,} rated responses are left out: some may have fewer votes, "
                    "because the study stops asking when a majority is decided."
                )
            request = partial(request_prompt_search, plan, None)
            asking = partial(search_asking, plan)
            self._report(do_here(self, request, asking, "Searching", "prompts"))
        except (JobError, ChoiceError) as error:
            option = f"--{error.field.replace('_', '-')}: " if error.field else ""
            raise CommandError(f"{option}{error}\nNothing was asked.") from error

    def _report(self, job: Job) -> None:
        for step in job.steps.all():
            found = step.content
            shown = found["demonstrations"][-1] if found["demonstrations"] else "(none)"
            kept = "kept" if found["is_kept"] else "    "
            failed = f", {found['n_failed']} failed" if found["n_failed"] else ""
            error = f"{_figure(found['mse'])} against {_figure(found['mse_before'])}"
            self.stdout.write(f"{step.number:>4} {kept} MSE {error}{failed}  {shown}")
        result = job.result
        self.stdout.write(
            f"{result['prompt']}: {len(result['demonstrations'])} demonstrations, MSE "
            f"{_figure(result['mse'])} over {result['n_scored']} responses, "
            f"{_figure(result['mse_first'])} without any; {result['n_calls']:,} replies asked for."
        )
        self.stdout.write(result["text"])


def _plan(options: dict[str, Any]) -> SearchPlan:
    study = named(Study.objects.all(), options["study"])
    spec = spec_from(options)
    if spec is None:
        raise ChoiceError("model", "Only a language model can be given a prompt. Name one.")
    return SearchPlan(
        study=study,
        setup=options["setup"],
        metric=options["metric"],
        spec=_in_precision(spec, options["precision"]),
        name=options["name"],
        **given_from(SearchPlan, options),
    )


def _in_precision(spec: ModelSpec, precision: str | None) -> ModelSpec:
    offered = precisions_of(spec.backend)
    if precision and precision not in offered:
        raise ChoiceError("precision", f"Found {precision}; expected {' or '.join(offered)}.")
    return spec._replace(precision=precision or offered[0])


def _figure(error: float | None) -> str:
    return UNDEFINED if error is None else f"{error:.4f}"
