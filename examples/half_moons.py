"""Figure 1 of the paper: sixteen eigenfunctions of the Laplacian on two half-moons.

Prints the spectrum, and writes half_moons.png and half_moons.html to the current folder.
"""

import time
from pathlib import Path

import matplotlib as mpl

import ritz
from ritz.atomic import write_atomically

mpl.use("Agg")

X = ritz.datasets.half_moons(100_000, random_state=0).X
start = time.perf_counter()
basis = ritz.Nystrom(ritz.Exponential(1.0), n_centers=200)
spectrum = ritz.decompose(ritz.laplacian(), basis, X, k=16, random_state=0)
print(f"{spectrum}\n\nfound in {time.perf_counter() - start:.1f} s")

picture = Path("half_moons.png")
with write_atomically(picture) as file:
    shown = ritz.EigenfunctionDisplay.from_spectrum(spectrum, X)
    shown.figure_.savefig(file, format="png", dpi=110)
print(f"picture: {picture}")
page = ritz.report(spectrum, X, "half_moons.html", title="Two half-moons")
print(f"report:  {page}, to be opened in a browser: {page.resolve().as_uri()}")
