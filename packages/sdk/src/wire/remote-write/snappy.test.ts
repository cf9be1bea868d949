import assert from 'node:assert/strict'
import { test } from 'node:test'
import SnappyJS from 'snappyjs'
import { property } from '../../../test/helper.ts'
import { SnappyEncoder } from './snappy.ts'

const shared = new SnappyEncoder()

property('another library unpacks every mix of noise and repetition', 200, (random) => {
  const pieces: Buffer[] = []
  const sizes = [3, 15, 16, 60, 61, 300, 5000, 70_000]
  for (let rest = random.integer(0, 12); rest > 0; rest--) {
    const before = Buffer.concat(pieces)
    const size = random.pick(sizes)
    if (before.length > 0 && random.chance(0.6)) {
      const from = random.integer(0, before.length - 1)
      pieces.push(before.subarray(from, from + size))
    } else pieces.push(Buffer.from(Array.from({ length: size }, () => random.integer(0, random.pick([0, 3, 255])))))
  }
  const input = Buffer.concat([...pieces, Buffer.alloc(random.integer(0, 70))])
  const packed = shared.pack(Buffer.concat([input, Buffer.from('beyond')]), input.length)
  assert.deepEqual(Buffer.from(SnappyJS.uncompress(packed)), input)
})

test('repetitions are packed, and noise grows by little', () => {
  const encoder = new SnappyEncoder()
  const labels = Buffer.from('{__name__="DCGM_FI_DEV_GPU_TEMP",gpu="1",instance="node-17"}'.repeat(1000))
  assert.ok(encoder.pack(labels, labels.length).length < labels.length / 15)
  const noise = Buffer.from(Array.from({ length: 10_000 }, (_, i) => Math.imul(i, 2_654_435_761) >>> 24))
  assert.ok(encoder.pack(noise, noise.length).length < noise.length + 100)
})
