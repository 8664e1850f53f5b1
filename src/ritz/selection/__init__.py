"""All that "auto" means: length scales, numbers of centers, regularizations, and their scores."""
