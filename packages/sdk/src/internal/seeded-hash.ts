import { hash } from 'node:crypto'

/**
 * The key of all hashes of this process. With the key, an attacker could make texts and numbers with equal hashes,
 * which make each lookup slow. So the key is random, and no value that leaves the process depends on it.
 */
const [KEY_LOW = 0, KEY_HIGH = 0] = crypto.getRandomValues(new Int32Array(2))

/**
 * HalfSipHash-1-3 of the words of a key, as 32 bits: the hash that the Linux kernel takes where keys come from outside.
 * A plain multiply and shift with a seed is not enough: some pairs of keys collide under every seed.
 */
export function hashWords(words: Uint32Array, from: number, count: number): number {
  let v0 = KEY_LOW
  let v1 = KEY_HIGH
  let v2 = 0x6c796765 ^ KEY_LOW
  let v3 = 0x74656462 ^ KEY_HIGH
  // A round for each word, one for their count, and three that mix.
  for (let i = 0; i < count + 4; i++) {
    const word = i < count ? (words[from + i] as number) : i === count ? count << 26 : 0
    if (i === count + 1) v2 ^= 0xff
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  return v1 ^ v3
}

/** {@link hashWords} of the UTF-8 bytes of a text. */
export function hashText(text: string): number {
  const bytes = Buffer.from(text)
  const words = new Uint32Array((bytes.length + 3) >> 2)
  new Uint8Array(words.buffer).set(bytes)
  return hashWords(words, 0, words.length)
}

/**
 * The key under which a u32 from outside is kept in a `Map` or `Set`: other numbers have other keys. V8 hashes texts
 * with a seed of the process, but numbers without one, so that 16 000 numbers can be chosen that take seconds to add.
 */
export function keyOfNumber(value: number): number {
  let key = value ^ KEY_LOW
  key = Math.imul(key ^ (key >>> 16), 0x7feb352d)
  key = Math.imul(key ^ (key >>> 15) ^ KEY_HIGH, 0x846ca68b)
  return key ^ (key >>> 16)
}

/** Longer texts are kept as their digest. Unit: characters. */
const KEY_CHARACTERS_MAX = 256

/**
 * The key under which a text from outside that may be long is kept in a `Map` or `Set`: other texts have other keys. V8
 * hashes a text of more than 16 383 characters by its length alone, so that each of some thousands is compared with all
 * others. A digest also takes less memory.
 */
export function keyOfText(text: string): string {
  return text.length <= KEY_CHARACTERS_MAX ? text : hash('sha256', text, 'base64')
}
