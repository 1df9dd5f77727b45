"""Users, roles, sign-in and the audit trail."""
