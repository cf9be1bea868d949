import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as zlib from 'node:zlib'
import { property } from '../../test/helper.ts'
import { crc32 } from './crc32.ts'

test('is that of the addon where it is installed, as it is here', () => {
  assert.equal(crc32, createRequire(import.meta.url)('@node-rs/crc32').crc32)
})

property('is the CRC-32 of zlib, of the bytes before too, whatever memory they lie in', 50, (random) => {
  const length = random.integer(0, 5000)
  const from = random.integer(0, 9)
  for (const memory of [new ArrayBuffer(length + from), new SharedArrayBuffer(length + from)]) {
    const bytes = new Uint8Array(memory, from)
    for (let i = 0; i < length; i++) bytes[i] = random.integer(0, 255)
    assert.equal(crc32(bytes), zlib.crc32(bytes))
    const cut = random.integer(0, length)
    assert.equal(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut))), zlib.crc32(bytes))
  }
})
