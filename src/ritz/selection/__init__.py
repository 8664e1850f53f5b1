"""Selection of what is "auto": length scales, numbers of centers and regularizations."""
