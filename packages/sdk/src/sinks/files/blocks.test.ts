import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { Batch } from '../../schema/batch.ts'
import { gauge, timestamp } from '../../schema/field.ts'
import { defineType } from '../../schema/record-type.ts'
import { createSource } from '../../source/source.ts'
import { BLOCK_HEADER_BYTES } from '../../wire/dtb/format.ts'
import { Blocks } from './blocks.ts'

function someBatch(): Batch {
  const batches: Batch[] = []
  const source = createSource({ id: 'test', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  const type = defineType('level', 'A level', { time: timestamp(), level: gauge('f64') })
  for (let level = 0; level < 10; level++) source.report(type, { time: 1_700_000_000_000_000_000n, level })
  source.flush()
  const [batch] = batches
  assert.ok(batch !== undefined)
  return batch
}

function checksumOf(batch: Batch): number {
  const { block } = new Blocks().entryOf(batch)
  return new DataView(block.buffer, block.byteOffset).getUint32(56, true)
}

test('a block has the checksum that came with the records', () => {
  const batch = someBatch()
  const { bytes } = batch
  assert.equal(checksumOf({ ...batch, checksum: { bytes, crc32: 12345 } }), 12345)
})

test('a checksum that came with other bytes is not taken over', () => {
  const batch = someBatch()
  const whole = { ...batch, checksum: { bytes: batch.bytes, crc32: crc32(batch.bytes) } }
  const part = { ...whole, count: 5, bytes: batch.bytes.subarray(0, batch.bytes.length / 2) }
  assert.equal(checksumOf(part), crc32(part.bytes))
  assert.equal(new Blocks().entryOf(part).block.length, BLOCK_HEADER_BYTES + part.bytes.length)
})
