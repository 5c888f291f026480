"""Every picture of the book, one function each: data in, a drawing out.

`picture` has what all of them share: SVG that comes out the same each time, on a
transparent ground, in middle tones that are legible on a light page and on a dark one,
with a text for those who do not see it. The other rooms know nothing of this one, so a
cluster runs without matplotlib (`pip install 'kubernetes-lifecycle[plots]'` brings it);
without it, the import of this room says so (MissingExtraError).
"""

from lifecycle.api.extras import require

require("plots")
