// The files of a tar archive of the plain kind (POSIX ustar): a block of 512 bytes that says what comes, then the file,
// filled up to whole blocks.

const BLOCK = 512;
const text = new TextDecoder();

/** Each file's path, and its content as a view of the archive. Throws for anything that is no file. */
export function* tarFiles(tar) {
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const path = word(tar, at, 100);
    const size = Number.parseInt(word(tar, at + 124, 12), 8);
    const folder = word(tar, at + 345, 155);
    const begin = at + BLOCK;
    if (word(tar, at + 156, 1) !== "0" || !(begin + size <= tar.length)) {
      throw new Error(`not a file in a tar: ${path}`);
    }
    yield { path: folder ? `${folder}/${path}` : path, content: tar.subarray(begin, begin + size) };
    at = begin + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** What stands in a field, up to the first zero. */
function word(tar, at, most) {
  let end = at;
  while (end < at + most && tar[end] !== 0) end += 1;
  return text.decode(tar.subarray(at, end));
}
