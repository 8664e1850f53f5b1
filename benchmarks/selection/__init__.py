"""How well the defaults choose, and whether the errors they report can be trusted."""
