import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNumber, KernelText } from './kernel-text.ts'

const kernelText = (value: string) => new KernelText(new TextEncoder().encode(value))

test('decimal numbers: exact up to 2^64 - 1, a number while that is exact', () => {
  const exact: readonly [string, number | bigint][] = [
    ['0', 0],
    ['7\n', 7],
    ['  \t42 ', 42],
    ['999999999999999', 999999999999999],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 18446744073709551615n],
    ['000000000000000000000000000000012', 12],
    ['00000000000000000000000000', 0],
  ]
  for (const [given, expected] of exact) assert.equal(kernelText(given).u64(), expected, given)
})

test('what is no number says why', () => {
  const failures = {
    '': 'empty',
    '  \n1': 'empty',
    'N/A': 'not_available',
    '<unknown>': 'not_available',
    '-1': 'negative',
    '-': 'garbage',
    '+1': 'garbage',
    '12x': 'garbage',
    '0x10': 'garbage',
    '1.5': 'garbage',
    '１': 'garbage',
    '18446744073709551616': 'huge',
    '99999999999999999999999999': 'huge',
  }
  for (const [given, expected] of Object.entries(failures)) assert.equal(kernelText(given).u64(), expected, given)
})

test('any u64 comes back as it was written', () => {
  let seed = 1n
  for (let i = 0; i < 5000; i++) {
    seed = (seed * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    const value = seed >> BigInt(i % 64)
    const read = kernelText(`${value} next`).u64()
    assert.ok(isNumber(read))
    assert.equal(BigInt(read), value)
    assert.equal(typeof read, value <= 9007199254740992n ? 'number' : 'bigint')
  }
})

test('the cursor ends behind a word, whatever it was, and stays in its line', () => {
  const text = kernelText('a 1 -2 x3 18446744073709551616 9\n\nb')
  assert.equal(text.word(), 'a')
  assert.deepEqual([text.u64(), text.u64(), text.u64(), text.u64(), text.u64()], [1, 'negative', 'garbage', 'huge', 9])
  assert.equal(text.u64(), 'empty')
  assert.equal(text.word(), '')
  assert.ok(text.lineDone())
  text.nextLine()
  assert.ok(text.lineDone())
  text.nextLine()
  assert.equal(text.word(), 'b')
  assert.ok(text.done)
  assert.equal(text.u64(), 'empty')
})

test('hexadecimal and decimal columns', () => {
  const text = kernelText('0000ffff FFFFFFFF 100000000 xyz  0.25 12 1e3 .5\n')
  assert.deepEqual([text.hex(), text.hex(), text.hex(), text.hex()], [0xffff, 0xffffffff, 'huge', 'garbage'])
  assert.deepEqual([text.decimal(), text.decimal(), text.decimal(), text.decimal()], [0.25, 12, 'garbage', 'garbage'])
  assert.deepEqual([text.hex(), text.decimal()], ['empty', 'empty'])
})

test('text up to a place, and a prefix', () => {
  const text = kernelText('  größe0:1: total=5')
  const colon = text.lastIndexOf(':', text.lineEnd())
  assert.equal(text.textTo(colon), 'größe0:1')
  assert.ok(!text.skip(';'))
  assert.ok(text.skip(': total='))
  assert.equal(text.u64(), 5)
  assert.ok(!text.skip('x'))
  assert.equal(kernelText('abc').lastIndexOf(':', 3), -1)
})

test('random bytes never throw, and always come to an end', () => {
  let seed = 7
  for (let round = 0; round < 2000; round++) {
    const bytes = new Uint8Array(round % 60)
    for (let i = 0; i < bytes.length; i++) {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      bytes[i] = ' \t\n09-:ax\xff'.charCodeAt((seed >> 8) % 10)
    }
    const text = new KernelText(bytes)
    let steps = 0
    for (; !text.done; text.nextLine()) {
      while (!text.lineDone()) {
        text.u64()
        assert.ok(++steps <= bytes.length)
      }
    }
  }
})
