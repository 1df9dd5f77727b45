"""Choices that are declared once: forms, serializers and arguments of commands are made of them."""
