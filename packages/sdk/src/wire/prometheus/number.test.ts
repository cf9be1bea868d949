import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { digitsOf, finiteWidth, signedWidth, specialText, writeFinite, writeSigned, writeUnsigned } from './number.ts'

const words = (value: bigint): [high: number, low: number] => {
  const bits = BigInt.asUintN(64, value)
  return [Number(bits >> 32n), Number(bits & 0xffffffffn)]
}

function unsigned(value: bigint, width = digitsOf(...words(value))): string | false {
  const bytes = Buffer.alloc(width)
  return writeUnsigned(bytes, 0, width, ...words(value)) && bytes.toString()
}

function signed(value: bigint, width = signedWidth(...words(value))): string | false {
  const bytes = Buffer.alloc(width)
  return writeSigned(bytes, 0, width, ...words(value)) && bytes.toString()
}

function finite(value: number, width = finiteWidth(value)): string | false {
  const bytes = Buffer.alloc(width)
  return writeFinite(bytes, 0, width, value) && bytes.toString()
}

test('a u64 is written to the last digit, zeros first', () => {
  assert.equal(unsigned(0n), '0')
  assert.equal(unsigned(42n, 7), '0000042')
  assert.equal(unsigned(2n ** 53n + 1n), '9007199254740993')
  assert.equal(unsigned(2n ** 64n - 1n), '18446744073709551615')
  assert.equal(unsigned(2n ** 64n - 1n, 24), '000018446744073709551615')
})

test('an i64 has its sign before the zeros', () => {
  assert.equal(signed(-42n, 7), '-000042')
  assert.equal(signed(-(2n ** 63n)), '-9223372036854775808')
  assert.equal(signed(2n ** 63n - 1n), '9223372036854775807')
  assert.equal(signed(-(2n ** 32n)), '-4294967296')
})

test('a double is written as its shortest decimal, padded', () => {
  assert.equal(finite(0.1, 6), '0000.1')
  assert.equal(finite(-42.5, 8), '-00042.5')
  assert.equal(finite(-0), '-0')
  assert.equal(finite(1e21, 6), '01e+21')
  assert.equal(finite(5e-324), '5e-324')
  assert.equal(finite(0.1 + 0.2), '0.30000000000000004')
  assert.equal(finite(1.7976931348623157e308), '1.7976931348623157e+308')
})

test('NaN and the infinities have the names of the format', () => {
  assert.deepEqual([Number.NaN, Infinity, -Infinity].map(specialText), ['NaN', '+Inf', '-Inf'])
})

test('a number without room is refused', () => {
  assert.equal(unsigned(100n, 2), false)
  assert.equal(signed(-100n, 3), false)
  assert.equal(finite(-0.25, 4), false)
  assert.equal(finite(123456.5, 7), false)
})

property('every 64-bit integer reads back as itself, at every width it fits', 3000, (random) => {
  const value = random.bits64() >> BigInt(random.integer(0, 63))
  const width = digitsOf(...words(value)) + random.integer(0, 4)
  assert.equal(unsigned(value, width), String(value).padStart(width, '0'))
  assert.equal(digitsOf(...words(value)), String(value).length)
  const negative = BigInt.asIntN(64, -value)
  assert.equal(BigInt(signed(negative) || Number.NaN), negative)
  assert.equal(signedWidth(...words(negative)), String(negative).length)
})

property('every finite double reads back as itself, at every width it fits', 3000, (random) => {
  const bits = new BigUint64Array([random.bits64()])
  const anything = new Float64Array(bits.buffer)[0] ?? 0
  const decimal = random.integer(-1e9, 1e9) / 10 ** random.integer(0, 6)
  const value = random.chance(0.5) && Number.isFinite(anything) ? anything : decimal
  const text = finite(value, finiteWidth(value) + random.integer(0, 4))
  assert.ok(text !== false, `${value} fits its own width`)
  assert.ok(Object.is(Number(text), value), `${value} was written as ${text}`)
})
