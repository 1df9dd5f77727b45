from django.apps import AppConfig

from accounts.token_mask import mask_tokens_in_logs


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        mask_tokens_in_logs()
