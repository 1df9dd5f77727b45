"""Who somebody is: users, roles, sign-in, the audit trail."""
