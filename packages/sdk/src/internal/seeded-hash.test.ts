import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { hashWords, keyOfNumber, keyOfText } from './seeded-hash.ts'

const COUNT = 30_000
const MASK = 0xffff

/** The hash of one word that tables had before: without a seed, and undone with ease. */
const OLD_FACTOR = 0x9e3779b1

/** Words that this hash put into one place of a table of 65 536. */
function craftedWords(): Uint32Array {
  const inverse = inverseOf(OLD_FACTOR)
  return Uint32Array.from({ length: COUNT }, (_, i) => {
    const hash = (i << 16) | 0x1234
    const before = hash ^ (hash >>> 15) ^ (hash >>> 30)
    return Math.imul(before, inverse)
  })
}

/** What an odd number is multiplied with to give 1 in 32 bits. */
function inverseOf(odd: number): number {
  let inverse = odd
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse))
  return inverse
}

/** The number of slots that are probed until each of some hashes has its own slot. */
function probesOf(hashes: Iterable<number>): number {
  const taken = new Uint8Array(MASK + 1)
  let probes = 0
  for (const hash of hashes) {
    let place = hash & MASK
    while (probes++ < 1e7 && taken[place] === 1) place = (place + 1) & MASK
    taken[place] = 1
  }
  return probes
}

test('keys that were made to share a place take no more probes than others', () => {
  const crafted = craftedWords()
  const old = (word: number) => {
    const hash = Math.imul(word, OLD_FACTOR)
    return hash ^ (hash >>> 15)
  }
  assert.ok(probesOf(Array.from(crafted, old)) > 1e6, 'the keys are not what they should be')
  const honest = Uint32Array.from({ length: COUNT }, (_, i) => i)
  for (const words of [crafted, honest]) {
    const hashed = Array.from(words, (_, i) => hashWords(words, i, 1))
    for (const hashes of [hashed, hashed.map((hash) => hash >>> 16), Array.from(words, keyOfNumber)])
      assert.ok(probesOf(hashes) < 2 * COUNT, `${probesOf(hashes)} probes for ${COUNT} keys`)
  }
})

test('keys of several words differ in their hash where they differ in one bit', () => {
  const words = new Uint32Array(5)
  const plain = hashWords(words, 0, words.length)
  const seen = new Set([plain])
  for (let bit = 0; bit < words.length * 32; bit++) {
    words.fill(0)
    words[bit >> 5] = 1 << (bit & 31)
    const hash = hashWords(words, 0, words.length)
    seen.add(hash)
    let bits = 0
    for (let diff = (hash ^ plain) >>> 0; diff > 0; diff >>>= 1) bits += diff & 1
    assert.ok(bits >= 3 && bits <= 29, `bit ${bit} changes ${bits} bits of the hash`)
  }
  assert.equal(seen.size, words.length * 32 + 1)
  assert.notEqual(hashWords(words, 0, 4), hashWords(words, 0, 5), 'a key and the same with a zero behind it')
})

test('other numbers have other keys', () => {
  const keys = new Set(Array.from({ length: 100_000 }, (_, i) => keyOfNumber(Math.imul(i, 0x10001))))
  assert.equal(keys.size, 100_000)
})

test('each process has a seed of its own', () => {
  const url = new URL('./seeded-hash.ts', import.meta.url).href
  const program = `const { hashWords, keyOfNumber } = await import('${url}'); console.log(hashWords(new Uint32Array(2), 0, 2), keyOfNumber(1))`
  const said = Array.from({ length: 3 }, () =>
    execFileSync(process.execPath, ['--conditions=source', '--input-type=module', '-e', program], { encoding: 'utf8' }),
  )
  assert.equal(new Set(said).size, 3, said.join())
})

test('a long text has a short key, and no other text has the same', () => {
  const texts = [256, 257, 16_384].flatMap((length) => ['a', 'b'].map((last) => `${'x'.repeat(length - 1)}${last}`))
  const keys = texts.map(keyOfText)
  assert.equal(new Set(keys).size, texts.length)
  assert.ok(keys.every(({ length }) => length <= 256))
  assert.equal(keyOfText('short'), 'short')
})
