"""The functions that users call: anonymize, verify, measure, compare, risk, attack, utility."""
