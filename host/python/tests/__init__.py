"""Tests of the Python host. The component's file is named by the environment variable BACKBURNER_COMPONENT."""
