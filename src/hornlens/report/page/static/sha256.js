// The page's own checker, 9: the digest of the document, worked out from its text.

((v) => {
  const isPrime = (n) => {
    for (let i = 2; i * i <= n; i++) if (n % i === 0) return false;
    return true;
  };
  const primes = Array.from({ length: 312 }, (_, n) => n).filter((n) => n > 1 && isPrime(n));
  const bitsOf = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
  const START = primes.slice(0, 8).map((p) => bitsOf(Math.sqrt(p)));
  const ROUNDS = primes.map((p) => bitsOf(Math.cbrt(p)));
  const turn = (x, n) => (x >>> n) | (x << (32 - n));

  /** SHA-256 of bytes, in hexadecimal: for browsers that do not let a page at their own. */
  v.sha256 = (bytes) => {
    const size = ((bytes.length + 72) >>> 6) << 6;
    const data = new DataView(new ArrayBuffer(size));
    new Uint8Array(data.buffer).set(bytes);
    data.setUint8(bytes.length, 0x80);
    data.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
    data.setUint32(size - 4, (bytes.length << 3) >>> 0);
    const state = Int32Array.from(START);
    const words = new Int32Array(64);
    for (let at = 0; at < size; at += 64) {
      for (let i = 0; i < 16; i++) words[i] = data.getInt32(at + 4 * i);
      for (let i = 16; i < 64; i++) {
        const [x, y] = [words[i - 15], words[i - 2]];
        words[i] = words[i - 16] + words[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10));
      }
      let [a, b, c, d, e, f, g, h] = state;
      for (let i = 0; i < 64; i++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] += value));
    }
    return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  };

  const ESCAPED = { u003c: "<", u003e: ">", u0026: "&" };
  const DIGEST = /,"digest":"(sha256:[0-9a-f]{64})"\}\s*$/;

  /** Return the digest that a document's text states (null if none), and the text that it is of. */
  v.digested = (text) => {
    const plain = text.replace(/\\(u003[ce]|u0026|[^])/g, (whole, what) => ESCAPED[what] ?? whole);
    const match = DIGEST.exec(plain.slice(-100));
    const end = match ? plain.length - match[0].length : 0;
    return match ? { stated: match[1], text: `${plain.slice(0, end)}}` } : { stated: null, text: plain.trimEnd() };
  };

  /** Work out the digest of a document's text again: what is stated, and what it is. */
  v.digestOf = async (text) => {
    const { stated, text: bare } = v.digested(text);
    const bytes = new TextEncoder().encode(bare);
    const hex = globalThis.crypto?.subtle
      ? Array.from(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("")
      : v.sha256(bytes);
    return { stated, digest: `sha256:${hex}` };
  };
})(Verifier);
