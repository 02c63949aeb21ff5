"""What others could learn from a table: risk, linking attacks, joint releases."""
