"""Groups become published cells, and published cells become intervals again."""
