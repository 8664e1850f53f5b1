"""The benchmark's atoms: forces are gradients, motions conserve energy, samples have the law."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

from benchmarks.atoms import align, lennard_jones, lennard_jones_minimum, simulate_cluster, verlet

# The lowest energies known, from the Cambridge Cluster Database.
LOWEST = {2: -1.0, 3: -3.0, 4: -6.0, 5: -9.103852, 6: -12.712062, 7: -16.505384, 13: -44.326801}


def spread_clusters(n, n_atoms, seed=0):
    """Return atoms on a lattice, each row with its own perturbation."""
    grid = np.stack(np.meshgrid(*[1.1 * np.arange(3)] * 3), axis=-1).reshape(-1, 3)[:n_atoms]
    perturbation = np.random.default_rng(seed).uniform(-0.1, 0.1, (n, 3 * n_atoms))
    return grid.ravel() + perturbation


def gradients_of(X):
    return lennard_jones(X)[1]


def moved(X, rotation, shift=0.0):
    return (rotation.apply(X.reshape(-1, 3)) + shift).reshape(X.shape)


@pytest.mark.parametrize("n_atoms", [2, 3, 5, 13])
def test_gradient_is_the_limit_of_differences(n_atoms):
    X = spread_clusters(4, n_atoms)
    direction = np.random.default_rng(1).standard_normal(X.shape)
    slopes = np.einsum("ij,ij->i", gradients_of(X), direction)

    def error(h):
        above, below = (lennard_jones(X + s * h * direction)[0] for s in (1, -1))
        return np.abs((above - below) / (2 * h) - slopes).max()

    # Central differences have an error of second order.
    assert np.log2(error(1e-3) / error(5e-4)) == pytest.approx(2.0, abs=0.05)
    assert error(1e-5) < 1e-6 * np.abs(slopes).max()


def test_energy_is_the_sum_over_pairs():
    X = spread_clusters(3, 4)
    naive = np.zeros(3)
    for row, x in enumerate(X.reshape(3, 4, 3)):
        for i in range(4):
            for j in range(i):
                r = np.linalg.norm(x[i] - x[j])
                naive[row] += 4 * (r**-12 - r**-6)
    np.testing.assert_allclose(lennard_jones(X)[0], naive, rtol=1e-13)


def test_rows_are_independent():
    X = spread_clusters(5, 3)
    whole, single = lennard_jones(X), [lennard_jones(x[None]) for x in X]
    np.testing.assert_allclose(whole[0], [e[0] for e, _ in single], rtol=1e-14)
    np.testing.assert_allclose(whole[1], [g[0] for _, g in single], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_atoms", [2, 3, 7])
def test_total_force_and_torque_vanish(n_atoms):
    X = spread_clusters(20, n_atoms)
    forces, atoms = -gradients_of(X).reshape(20, n_atoms, 3), X.reshape(20, n_atoms, 3)
    size = np.abs(forces).max()
    np.testing.assert_allclose(forces.sum(axis=1), 0.0, atol=1e-14 * n_atoms * size)
    torque = np.cross(atoms, forces).sum(axis=1)
    np.testing.assert_allclose(torque, 0.0, atol=1e-14 * n_atoms * size * np.abs(X).max())


@pytest.mark.parametrize("n_atoms", LOWEST)
def test_minimum_is_the_lowest_known(n_atoms):
    x = lennard_jones_minimum(n_atoms)
    energies, gradients = lennard_jones(x[None])
    assert energies[0] == pytest.approx(LOWEST[n_atoms], abs=1e-6)
    assert np.abs(gradients).max() < 1e-6
    np.testing.assert_allclose(x.reshape(-1, 3).mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_array_equal(x, lennard_jones_minimum(n_atoms))


def test_four_atoms_are_a_regular_tetrahedron():
    x = lennard_jones_minimum(4).reshape(4, 3)
    i, j = np.triu_indices(4, 1)
    np.testing.assert_allclose(np.linalg.norm(x[i] - x[j], axis=1), 2 ** (1 / 6), rtol=1e-9)


def moving(n_atoms):
    """Return the minimum with random velocities, the total momentum zero."""
    velocities = 0.3 * np.random.default_rng(0).standard_normal((2, n_atoms, 3))
    velocities -= velocities.mean(axis=1, keepdims=True)
    x = lennard_jones_minimum(n_atoms)
    return np.stack([x, x]), velocities.reshape(2, -1)


def total_energies(X, V, mass=1.0):
    return lennard_jones(X.reshape(-1, X.shape[2]))[0].reshape(X.shape[:2]) + mass / 2 * (V**2).sum(
        axis=2
    )


@pytest.mark.parametrize("mass", [1.0, 4.0])
def test_verlet_conserves_the_energy_to_second_order(mass):
    x, v = moving(3)

    def error(step, time=2.0):
        X, V = verlet(gradients_of, x, v, step, round(time / step), mass)
        energies = total_energies(X, V, mass)
        return np.abs(energies - energies[0]).max()

    assert error(0.002) / error(0.001) == pytest.approx(4.0, rel=0.05)
    assert error(0.001) < 1e-3


def test_verlet_does_not_drift():
    x, v = moving(3)
    X, V = verlet(gradients_of, x, v, 0.005, 10_000)
    deviations = np.abs(total_energies(X, V) - total_energies(X, V)[0])
    assert deviations[-1000:].max() < 2 * deviations[:1000].max()


def test_verlet_conserves_momentum_and_angular_momentum_and_is_reversible():
    x, v = moving(4)
    X, V = verlet(gradients_of, x, v, 0.005, 200)
    assert X.shape == V.shape == (201, 2, 12)
    atoms, velocities = X.reshape(201, 2, 4, 3), V.reshape(201, 2, 4, 3)
    np.testing.assert_allclose(velocities.sum(axis=2), 0.0, atol=1e-12)
    spin = np.cross(atoms, velocities).sum(axis=2)
    np.testing.assert_allclose(spin, np.broadcast_to(spin[0], spin.shape), atol=1e-11)
    back, _ = verlet(gradients_of, X[-1], -V[-1], 0.005, 200)
    np.testing.assert_allclose(back[-1], x, atol=1e-9)


def test_verlet_follows_a_spring_of_any_dimension():
    x, v = np.array([[1.0]]), np.array([[0.0]])

    def error(step):
        X, _ = verlet(lambda y: 9.0 * y, x, v, step, round(1 / step), mass=4.0)
        times = step * np.arange(len(X))
        return np.abs(X[:, 0, 0] - np.cos(1.5 * times)).max()

    assert np.log2(error(0.01) / error(0.005)) == pytest.approx(2.0, abs=0.02)


def test_simulation_returns_the_energies_and_gradients_of_its_positions():
    run = simulate_cluster(3, 50, temperature=0.05, random_state=0)
    assert run.X.shape == run.gradients.shape == (50, 9)
    energies, gradients = lennard_jones(run.X)
    np.testing.assert_allclose(run.energies, energies, rtol=1e-13)
    np.testing.assert_allclose(run.gradients, gradients, atol=1e-11)
    np.testing.assert_allclose(run.X.reshape(50, 3, 3).mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_array_equal(run.reference, lennard_jones_minimum(3))


def test_simulation_is_reproducible():
    one, same, other = (
        simulate_cluster(3, 5, random_state=s) for s in (1, np.random.default_rng(1), 2)
    )
    np.testing.assert_array_equal(one.X, same.X)
    assert not np.array_equal(one.X, other.X)


def test_simulation_samples_the_boltzmann_distribution():
    """The distance of two atoms has density r^2 exp(-u(r) / T) while they stay together."""
    T, farthest = 0.05, 1.8

    def pair(r):
        return 4 * (r**-12 - r**-6)

    def density(r):
        return r**2 * np.exp(-(pair(r) + 1) / T)

    total = quad(density, 0.8, farthest)[0]
    exact = quad(lambda r: pair(r) * density(r), 0.8, farthest)[0] / total
    run = simulate_cluster(2, 3000, temperature=T, stride=10, friction=4.0, random_state=0)
    assert np.linalg.norm(run.X[:, :3] - run.X[:, 3:], axis=1).max() < farthest
    # Successive samples are correlated, means over 100 of them hardly.
    means = run.energies.reshape(-1, 100).mean(axis=1)
    assert abs(means.mean() - exact) < 4 * means.std(ddof=1) / np.sqrt(len(means))
    # The mean energy differs from the minimum by more than twenty standard errors.
    assert exact + 1 > 20 * means.std(ddof=1) / np.sqrt(len(means))


def test_simulation_warns_when_the_cluster_falls_apart():
    with pytest.warns(UserWarning, match=r"In \d+\.\d% of the samples an atom is farther than 3"):
        run = simulate_cluster(2, 200, temperature=1.0, random_state=0)
    assert np.linalg.norm(run.X[:, :3] - run.X[:, 3:], axis=1).max() > 3.0


@pytest.mark.parametrize("n_atoms", [2, 3, 4])
def test_alignment_preserves_energies_and_rotates_forces(n_atoms):
    run = simulate_cluster(n_atoms, 40, random_state=0)
    aligned = run.aligned()
    energies, gradients = lennard_jones(aligned.X)
    np.testing.assert_array_equal(aligned.energies, run.energies)
    np.testing.assert_allclose(energies, run.energies, rtol=1e-12)
    np.testing.assert_allclose(aligned.gradients, gradients, atol=1e-11)
    np.testing.assert_array_equal(aligned.reference, run.reference)


def test_alignment_is_invariant_to_motions_but_not_to_reflections():
    reference = lennard_jones_minimum(4)
    X = reference + 0.1 * np.random.default_rng(0).standard_normal((30, 12))
    G = gradients_of(X)
    rotation = Rotation.random(1, rng=1)[0]
    before = align(X, G, reference)
    after = align(moved(X, rotation, shift=[1.0, 2.0, 3.0]), moved(G, rotation), reference)
    np.testing.assert_allclose(after[0], before[0], atol=1e-12)
    np.testing.assert_allclose(after[1], before[1], atol=1e-11)
    # A mirror image is not a rigid motion: its signed volume has the opposite sign.
    mirrored = align(X * np.tile([1.0, 1.0, -1.0], 4), G, reference)[0]
    volumes = [np.linalg.det(np.diff(Y.reshape(-1, 4, 3), axis=1)) for Y in (before[0], mirrored)]
    np.testing.assert_allclose(volumes[1], -volumes[0], rtol=1e-12)


def test_alignment_is_the_nearest_motion():
    reference = lennard_jones_minimum(4)
    X = reference + 0.1 * np.random.default_rng(0).standard_normal((5, 12))
    nearest = align(moved(X, Rotation.random(1, rng=1)[0]), X, reference)[0]
    distance = np.linalg.norm(nearest - reference, axis=1)
    for seed in range(20):
        small = Rotation.from_rotvec(1e-2 * np.random.default_rng(seed).standard_normal(3))
        assert (np.linalg.norm(moved(nearest, small) - reference, axis=1) > distance).all()
    again = align(nearest, X, reference)[0]
    np.testing.assert_allclose(again, nearest, atol=1e-13)


def test_alignment_maps_the_reference_to_itself():
    reference = lennard_jones_minimum(5)
    X, _ = align(moved(reference[None], Rotation.random(1, rng=1)[0]), [reference], reference)
    np.testing.assert_allclose(X[0], reference, atol=1e-13)


ZEROS = np.zeros((1, 6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lennard_jones(ZEROS), "Two atoms are at the same position"),
        (lambda: simulate_cluster(3, 5, step=1e200), "overflowed with step=1e\\+200"),
        (lambda: verlet(lambda x: x + np.inf, ZEROS, ZEROS, 0.1, 5), "not finite in step 1"),
    ],
)
def test_failures_are_reported(call, message):
    with pytest.raises(ValueError, match=message):
        call()
