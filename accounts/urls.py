from django.urls import path

from accounts import views

app_name = "accounts"

urlpatterns = [
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("sign-out-everywhere/", views.sign_out_everywhere, name="sign-out-everywhere"),
    path("sign-in-link/<str:token>/", views.sign_in_link, name="sign-in-link"),
    path("return/", views.return_by_code, name="return"),
    path("change-password/", views.change_password, name="change-password"),
    path("language/", views.choose_language, name="choose-language"),
    path("letter-keys/", views.letter_keys, name="letter-keys"),
    path("api-tokens/", views.api_tokens, name="api-tokens"),
    path("api-tokens/<int:token_id>/revoke/", views.revoke_api_token, name="revoke-api-token"),
    path("users/", views.users, name="users"),
    path("users/invitations/", views.invitations, name="invitations"),
    path("users/<int:user_id>/", views.user, name="user"),
    path("users/<int:user_id>/deactivate/", views.deactivate_user, name="deactivate-user"),
    path("users/<int:user_id>/reactivate/", views.reactivate_user, name="reactivate-user"),
    path("users/<int:user_id>/sign-out/", views.sign_user_out, name="sign-user-out"),
    path(
        "users/<int:user_id>/sign-in-link/", views.create_sign_in_link, name="create-sign-in-link"
    ),
    path("audit-trail/", views.audit_trail, name="audit-trail"),
]
