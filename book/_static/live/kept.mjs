// What the browser keeps for later starts: bytes under a name, for one state of the book.
//
// All of this may fail (a private window, no room left, a site without https); then nothing is kept.

const OURS = "kubernetes-lifecycle ";

/** The bytes that were kept, or null. */
export async function kept(base, name) {
  try {
    const cache = await caches.open(OURS + base);
    const answer = await cache.match(base + name);
    return answer ? new Uint8Array(await answer.arrayBuffer()) : null;
  } catch {
    return null;
  }
}

/** Keep bytes, and let go of what was kept for another state of the book. */
export async function keep(base, name, bytes) {
  try {
    for (const other of await ofThisSite(base)) {
      if (other !== OURS + base) await caches.delete(other);
    }
    const cache = await caches.open(OURS + base);
    await cache.put(base + name, new Response(bytes));
  } catch (error) {
    console.warn(`${name} is not kept:`, error);
  }
}

/** How many bytes are kept, for any state of the book. */
export async function keptBytes(base) {
  let bytes = 0;
  try {
    for (const name of await ofThisSite(base)) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) bytes += (await (await cache.match(request)).blob()).size;
    }
  } catch {
    return 0;
  }
  return bytes;
}

/** Let go of all that. */
export async function forget(base) {
  for (const name of await ofThisSite(base)) await caches.delete(name);
}

/** One origin may serve several books: those caches that belong to the site around `base`. */
async function ofThisSite(base) {
  const folder = base.slice(0, base.lastIndexOf("/", base.length - 2) + 1);
  return (await caches.keys()).filter((name) => name.startsWith(OURS + folder));
}
