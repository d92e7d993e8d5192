"""Redis: the only package that speaks to it. Lua moves the money; Python only carries arguments."""
