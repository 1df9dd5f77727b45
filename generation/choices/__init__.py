"""Choices are declared once. Forms, serializers and arguments of commands are made from them."""
