"""Pages for signing in and out, password and tokens; for admins also users and audit trail."""

import csv
import io
import time
from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.views import LoginView
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services
from accounts.access import Role, allowed, allowed_to_all, public, roles_of, speak_to_reader
from accounts.backends import SIGNED_IN_BY
from accounts.forms import (
    InvitationsForm,
    NewTokenForm,
    NewUserForm,
    ReturnForm,
    RolesForm,
    SignInForm,
    UserSearchForm,
)
from accounts.http import (
    SignedInRequest,
    is_from_htmx,
    page_to_return_to,
    render_page_or_fragment,
)
from accounts.interrupted_forms import (
    send_again,
    sent_form,
    sign_in_first,
    sign_in_once_more,
    unsealed,
    was_sent_from_here,
)
from accounts.models import ApiToken, AuditEntry, User
from accounts.throttling import is_shut_out, note_wrong_code

USERS_PER_PAGE = 25
ENTRIES_PER_PAGE = 50
CAME_BY_LINK = "came_by_link"  # the session's key for the time of the link's use, in seconds
LINK_COUNTS_FOR = 15 * 60  # seconds after a link's use in which no old password is asked for


class SignIn(LoginView):
    """Django's sign-in with our template. Axes shuts out people who guess passwords."""

    template_name = "accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        kept = unsealed(request.POST.get("kept", ""))
        # The person may have signed in just now, or in another tab.
        if kept is None or not request.user.is_authenticated:
            return response
        return send_again(request, kept, self.get_success_url())

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        kept = self.request.POST.get("kept", "")
        return self.render_to_response(self.get_context_data(form=form, kept=kept), status=422)


sign_in = public(SignIn.as_view())


@require_POST
@public
def choose_language(request: HttpRequest) -> HttpResponse:
    """Keep in a cookie the language that a person reads, and go back to the page that asked."""
    response = redirect(page_to_return_to(request))
    language = request.POST.get("language", "")
    if language in dict(settings.LANGUAGES):
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            language,
            max_age=settings.LANGUAGE_COOKIE_AGE,
            secure=settings.LANGUAGE_COOKIE_SECURE,
            httponly=settings.LANGUAGE_COOKIE_HTTPONLY,
            samesite="Lax",
        )
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that lacks its cookie. If it is ours, keep it and let its sender sign in.

    A form from a page of another site is not kept. A script learns of it by the status 403.
    """
    speak_to_reader(request)
    wants_json = request.get_preferred_type(["text/html", "application/json"]) != "text/html"
    if wants_json or not was_sent_from_here(request):
        return render(request, "403_csrf.html", status=403)
    if request.path == reverse("accounts:sign-in"):
        return sign_in_once_more(request)
    if is_from_htmx(request) or not request.user.is_authenticated:
        return sign_in_first(request)
    kept = sent_form(request)
    if kept is None:
        return render(request, "403_csrf.html", status=403)
    return send_again(request, kept, page_to_return_to(request))


@require_POST
@allowed_to_all
def sign_out(request: SignedInRequest) -> HttpResponse:
    services.forget_join_key(request.user)
    logout(request)
    return redirect("accounts:sign-in")


@require_POST
@allowed_to_all
def sign_out_everywhere(request: SignedInRequest) -> HttpResponse:
    services.sign_out_everywhere(request.user, request.user)
    logout(request)
    return redirect("accounts:sign-in")


# The site's Referrer-Policy (same-origin) keeps the token from other sites. A stricter one
# would make browsers send 'Origin: null', which the CSRF check refuses.
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@public
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    """Show whom a link signs in. Only the button signs them in, as mail scanners open links."""
    is_shut = is_shut_out(request)
    if not is_shut and request.method == "POST" and (user := services.use_sign_in_link(token)):
        login(request, user, backend=SIGNED_IN_BY)
        request.session[CAME_BY_LINK] = time.time()
        return redirect("accounts:change-password")
    link = None if is_shut else services.valid_links(token).select_related("user").first()
    if link is None:
        note_wrong_code(request)
    status = 200 if link else 410
    return render(request, "accounts/sign_in_link.html", {"link": link}, status=status)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@public
def return_by_code(request: HttpRequest) -> HttpResponse:
    """Let people in who joined a study by its link, by the code that they got."""
    form = ReturnForm(request.POST if request.method == "POST" else None)
    if form.is_valid() and not is_shut_out(request):
        user = services.user_returning(form.cleaned_data["code"])
        if user:
            login(request, user, backend=SIGNED_IN_BY)
            return redirect("home")
        note_wrong_code(request)
        form.add_error(
            "code",
            gettext(
                "No code lets you in like this. Check each letter and try again. A code ends when "
                "somebody chooses a password for the account, or when it is signed out everywhere."
            ),
        )
    status = 422 if form.is_bound else 200
    return render(request, "accounts/return.html", {"form": form}, status=status)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@allowed_to_all
def change_password(request: SignedInRequest) -> HttpResponse:
    posted = request.method == "POST"
    # A person who used a link has just proved who they are, and may have forgotten the password.
    used_link = time.time() - request.session.get(CAME_BY_LINK, 0) < LINK_COUNTS_FOR
    needs_no_password = used_link or not request.user.has_usable_password()
    form_class = SetPasswordForm if needs_no_password else PasswordChangeForm
    form = form_class(request.user, request.POST if posted else None)
    if posted and form.is_valid():
        services.set_password(request.user, form.cleaned_data["new_password1"])
        update_session_auth_hash(request, request.user)
        if "revoke_tokens" in request.POST:
            services.revoke_api_tokens(request.user)
        request.session.pop(CAME_BY_LINK, None)
        messages.success(request, gettext("Your password is changed."))
        return redirect("home")
    has_tokens = Role.RESEARCHER in roles_of(request.user) and request.user.api_tokens.exists()
    context = {"form": form, "used_link": used_link, "has_tokens": has_tokens}
    context |= {"needs_no_password": needs_no_password}
    return render(request, "accounts/change_password.html", context, status=422 if posted else 200)


@require_POST
@allowed(Role.RATER)
def letter_keys(request: SignedInRequest) -> HttpResponse:
    """Switch single-letter keys on or off, and go back to the page that asked."""
    services.set_letter_keys(request.user, request.POST.get("on") == "1")
    return redirect(page_to_return_to(request))


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.RESEARCHER)
def api_tokens(request: SignedInRequest) -> HttpResponse:
    """List a person's own tokens. A new one is shown once: a redirect would have to store it."""
    posted = request.method == "POST"
    form = NewTokenForm(request.POST if posted else None)
    context: dict[str, object] = {}
    if posted and form.is_valid():
        name = form.cleaned_data["name"]
        try:
            token = services.create_api_token(request.user, **form.cleaned_data)
            context = {"token": token, "name": name}
        except services.AccountError as exc:
            form.add_error("name", str(exc))
        else:
            form = NewTokenForm()
    context |= {"form": form, "tokens": request.user.api_tokens.all()}
    status = 422 if form.is_bound else 200
    return render(request, "accounts/api_tokens.html", context, status=status)


@require_POST
@allowed(Role.RESEARCHER)
def revoke_api_token(request: SignedInRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(
        ApiToken.objects.select_related("user"), pk=token_id, user=request.user
    )
    services.revoke_api_token(token)
    messages.success(request, f"{token.name} no longer works.")
    return redirect("accounts:api-tokens")


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def users(request: SignedInRequest) -> HttpResponse:
    posted = request.method == "POST"
    form = NewUserForm(request.POST if posted else None, initial={"roles": [Role.RATER]})
    if posted and form.is_valid():
        username, roles = form.cleaned_data["username"], form.cleaned_data["roles"]
        try:
            created = services.create_user(username, roles, request.user)
        except services.AccountError as exc:
            form.add_error("username", str(exc))
        else:
            messages.success(request, f"{username} is created. Send them a sign-in link.")
            return redirect("accounts:user", created.pk)
    search = UserSearchForm(request.GET)
    page = Paginator(search.matching_users(), USERS_PER_PAGE).get_page(request.GET.get("page"))
    return render_page_or_fragment(
        request,
        page="accounts/users.html",
        fragment="accounts/_user_list.html",
        context={"form": form, "search": search, "page": page},
        status=422 if posted else 200,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def invitations(request: SignedInRequest) -> HttpResponse:
    """Create accounts for pasted names, and show their links once, as a list and as CSV."""
    posted = request.method == "POST"
    form = InvitationsForm(request.POST if posted else None, initial={"roles": [Role.RATER]})
    if posted and form.is_valid():
        names, roles = form.cleaned_data["names"], form.cleaned_data["roles"]
        try:
            invited = services.invite(names, roles, request.user)
        except services.AccountError as exc:
            form.add_error("names", str(exc))
        else:
            context = _links_of(request, invited)
            return render(request, "accounts/invitations_made.html", context)
    status = 422 if posted else 200
    return render(request, "accounts/invitations.html", {"form": form}, status=status)


def _links_of(request: HttpRequest, invited: Sequence[tuple[User, str]]) -> dict[str, object]:
    """Return the rows of invited people and their links, and the same as the text of a CSV."""
    rows = [
        (person.username, person.rater_code, _address_of_link(request, token))
        for person, token in invited
    ]
    file = io.StringIO()
    csv.writer(file).writerows([("name", "rater", "link"), *rows])
    return {"rows": rows, "csv": file.getvalue(), "days": services.LINK_IS_VALID_FOR.days}


def _address_of_link(request: HttpRequest, token: str) -> str:
    return request.build_absolute_uri(reverse("accounts:sign-in-link", args=[token]))


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(Role.ADMIN)
def user(request: SignedInRequest, user_id: int) -> HttpResponse:
    person = get_object_or_404(User.objects.prefetch_related("groups"), pk=user_id)
    posted = request.method == "POST"
    roles_now = [group.name for group in person.groups.all()]
    form = RolesForm(request.POST if posted else None, initial={"roles": roles_now})
    if posted and form.is_valid():
        try:
            services.set_roles(person, form.cleaned_data["roles"], request.user)
        except services.AccountError as exc:
            form.add_error("roles", str(exc))
        else:
            if person == request.user:
                update_session_auth_hash(request, person)  # this browser stays signed in
            messages.success(request, f"The roles of {person.username} are saved.")
            return redirect("accounts:user", user_id)
    context = {"person": person, "form": form}
    return render(request, "accounts/user.html", context, status=422 if posted else 200)


@require_POST
@allowed(Role.ADMIN)
def deactivate_user(request: SignedInRequest, user_id: int) -> HttpResponse:
    person = get_object_or_404(User, pk=user_id)
    try:
        services.deactivate(person, request.user)
    except services.AccountError as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, f"{person.username} can no longer sign in.")
    return redirect("accounts:user", user_id)


@require_POST
@allowed(Role.ADMIN)
def sign_user_out(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Sign another user out everywhere."""
    person = get_object_or_404(User, pk=user_id)
    services.sign_out_everywhere(person, request.user)
    messages.success(request, f"{person.username} is signed out everywhere.")
    return redirect("accounts:user", user_id)


@require_POST
@allowed(Role.ADMIN)
def reactivate_user(request: SignedInRequest, user_id: int) -> HttpResponse:
    person = get_object_or_404(User, pk=user_id)
    services.reactivate(person, request.user)
    messages.success(request, f"{person.username} can sign in again.")
    return redirect("accounts:user", user_id)


@require_POST
@allowed(Role.ADMIN)
def create_sign_in_link(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Show a new link once. A redirect to a page with the link would have to store the token."""
    person = get_object_or_404(User, pk=user_id)
    try:
        token = services.create_sign_in_link(person, request.user)
    except services.AccountError as exc:
        messages.error(request, str(exc))
        return redirect("accounts:user", user_id)
    url, days = _address_of_link(request, token), services.LINK_IS_VALID_FOR.days
    context = {"person": person, "url": url, "days": days}
    return render(request, "accounts/sign_in_link_created.html", context)


@require_safe
@allowed(Role.ADMIN)
def audit_trail(request: SignedInRequest) -> HttpResponse:
    entries = AuditEntry.objects.select_related("actor")
    page = Paginator(entries, ENTRIES_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "accounts/audit_trail.html", {"page": page})
