import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchSource, ODD_RECORD, oddType, portType } from '../../../test/sink-records.ts'
import type { Batch } from '../../schema/batch.ts'
import { gauge, timestamp } from '../../schema/field.ts'
import { defineType } from '../../schema/record-type.ts'
import {
  dtbBlockBytes,
  encodeEndBlock,
  encodeFileHeader,
  encodeSymbolsBlock,
  fillRecordsBlock,
  schemaFingerprint,
  sealRecordsBlock,
} from './encode.ts'
import { BLOCK_HEADER_BYTES } from './format.ts'

/* Checksums of the golden bytes are from zlib of Python. */
const FINGERPRINT = '00112233445566778899aabbccddeeff'

const plain = (text: string) => text.replaceAll(' ', '')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function sealed(batch: Batch, typeIndex: number): Uint8Array {
  const block = new Uint8Array(dtbBlockBytes(batch.bytes.byteLength)).fill(0xff)
  block.set(batch.bytes, BLOCK_HEADER_BYTES)
  fillRecordsBlock(block, batch)
  sealRecordsBlock(block, typeIndex)
  return block
}

test('golden bytes: the header of a file', () => {
  const header = encodeFileHeader({ fingerprint: FINGERPRINT, createdUs: 1n, writerId: 2n ** 64n - 1n })
  const version = '0100 0000 40000000'
  const times = '0100000000000000 ffffffffffffffff'
  const flags = '00000000 0000000000000000'
  assert.equal(hex(header), plain(`44544c4d42494e01 ${version} ${FINGERPRINT} ${times} ${flags} d8e48a0d`))
})

test('golden bytes: texts, and the end', () => {
  const header = (type: string, bytes: string) => `4454424b ${type}000000 ${bytes} ${bytes} ${'00'.repeat(40)}`
  assert.equal(hex(encodeEndBlock()), plain(`${header('ff', '00000000')} 00000000 2afa7e60`))
  const texts = '02000000 02000000 01000000 61 02000000 c2b5'
  const expected = `${header('04', '13000000')} 5ab57ae5e6531c6c ${texts} 0000000000`
  assert.equal(hex(encodeSymbolsBlock(2, ['a', 'µ'])), plain(expected))
})

test('a block of records bears clock, type, count, times and page; memory that was used before leaves no trace', () => {
  const batch = new BatchSource().batch(oddType, [ODD_RECORD, { ...ODD_RECORD, time: 1_700_000_000_000_000 }])
  const block = sealed({ ...batch, clock: 'device', page: { client: 2n ** 64n - 1n, sequence: 3n } }, 258)
  const data = Buffer.from(block.buffer)
  const { recordBytes } = oddType.layout
  assert.deepEqual([data[4], data[5], data.readUInt16LE(6)], [3, 2 << 1, 258])
  assert.deepEqual(
    [8, 12, 16, 20].map((at) => data.readUInt32LE(at)),
    [2 * recordBytes, 2 * recordBytes, 2, recordBytes],
  )
  const times = [24, 32].map((at) => data.readBigUInt64LE(at))
  assert.deepEqual(times, [1_700_000_000_000_000_000n, 1_800_000_000_000_000_000n])
  assert.deepEqual(
    [40, 48].map((at) => data.readBigUInt64LE(at)),
    [2n ** 64n - 1n, 3n],
  )
  assert.equal(block.byteLength % 8, 0)
  assert.ok(block.subarray(BLOCK_HEADER_BYTES + 2 * recordBytes).every((byte) => byte === 0))
  const again = sealed({ ...batch, clock: 'wall' }, 0)
  assert.deepEqual(
    [40, 48].map((at) => Buffer.from(again.buffer).readBigUInt64LE(at)),
    [0n, 0n],
  )
})

test('times are the earliest and the latest among records in any order, 0 where there are none', () => {
  const source = new BatchSource({ clock: 'monotonic' })
  const at = (time: bigint) => ({ time, device: 'a', rx_bytes_total: 1 })
  const timesOf = (block: Uint8Array) => [24, 32].map((at) => Buffer.from(block.buffer).readBigUInt64LE(at))
  const times = [2n ** 32n, 5n, 2n ** 63n, 2n ** 32n - 1n, 7n]
  assert.deepEqual(timesOf(sealed(source.batch(portType, times.map(at)), 0)), [5n, 2n ** 63n])
  const timeless = defineType('timeless', '', { n: gauge('u64') })
  assert.deepEqual(timesOf(sealed(source.batch(timeless, [{ n: 1 }]), 0)), [0n, 0n])
  const micro = defineType('micro', '', { time: timestamp('us'), n: gauge('u64') })
  assert.deepEqual(timesOf(sealed(source.batch(micro, [{ time: 2n ** 64n - 1n, n: 1 }]), 0)), [
    2n ** 64n - 1n,
    2n ** 64n - 1n,
  ])
})

test('the fingerprint of a schema is that of its types in any order', () => {
  assert.equal(schemaFingerprint([portType, oddType]), schemaFingerprint([oddType, portType]))
  assert.notEqual(schemaFingerprint([portType]), schemaFingerprint([portType, oddType]))
  assert.equal(schemaFingerprint([]), 'e3b0c44298fc1c149afbf4c8996fb924')
})
