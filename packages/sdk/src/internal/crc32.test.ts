import assert from 'node:assert/strict'
import * as zlib from 'node:zlib'
import { property } from '../../test/helper.ts'
import { crc32 } from './crc32.ts'

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
