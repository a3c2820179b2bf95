"""Tests of what signs results."""
