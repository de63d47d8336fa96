/**
 * The text of each line of a stream as it comes, without its line feed. (Node's readline also ends lines at U+2028, which
 * JSON leaves as it is.)
 *
 * @param {import("node:stream").Readable} stream
 * @param {(line: string) => void} take
 */
export function eachLine(stream, take) {
  let parts = [];
  stream.on("data", (/** @type {Buffer} */ data) => {
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      parts.push(data.subarray(start, end));
      take(Buffer.concat(parts).toString("utf8"));
      parts = [];
      start = end + 1;
    }
    if (start < data.length) parts.push(data.subarray(start));
  });
}
