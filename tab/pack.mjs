// Compresses a file with zstd, which the standard library of the Python that builds the book does not have yet.
// Usage: node pack.mjs IN OUT.
import fs from "node:fs";
import zlib from "node:zlib";

const { ZSTD_c_compressionLevel, ZSTD_c_windowLog, ZSTD_c_checksumFlag } = zlib.constants;
const params = {
  [ZSTD_c_compressionLevel]: 19,
  [ZSTD_c_windowLog]: 25, // the whole package is in sight
  [ZSTD_c_checksumFlag]: 1,
};
const [from, to] = process.argv.slice(2);
fs.writeFileSync(to, zlib.zstdCompressSync(fs.readFileSync(from), { params }));
