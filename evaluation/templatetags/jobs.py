"""Filters that write jobs on pages."""

from django import template

from evaluation.jobs.private_endpoints import endpoint_for, error_for

register = template.Library()
register.filter("endpoint_for", endpoint_for)
register.filter("error_for", error_for)
