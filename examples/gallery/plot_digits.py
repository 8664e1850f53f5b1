"""
An embedding of digits that takes new images
============================================

Two thirds of scikit-learn's 1,797 images of digits are embedded without their labels. The
eigenfunctions are then called on the last third, which the fit has not seen.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ritz

X, y = load_digits(return_X_y=True)
X_seen, X_new, y_seen, y_new = train_test_split(X / 16, y, test_size=0.33, random_state=0)
embedding = ritz.SpectralEmbedding(n_components=20, random_state=0).fit(X_seen)
print("operator chosen:", embedding.operator_)

# %%
# Points of unseen images fall on the clusters of the images of the same digit.
figure, panels = plt.subplots(1, 2, figsize=(11, 4.5))
for panel, images, labels, title in [
    (panels[0], X_seen, y_seen, "images of the fit"),
    (panels[1], X_new, y_new, "new images"),
]:
    ritz.EmbeddingDisplay.from_estimator(
        embedding, images, color=labels, components=(2, 3), ax=panel
    )
    panel.set_title(title)

# %%
# Twenty functions learned without labels are enough for a linear classifier.
seen, new = embedding.transform(X_seen), embedding.transform(X_new)
classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(seen, y_seen)
accuracy = classifier.score(new, y_new)
print(f"accuracy on new images: {accuracy:.3f}")
