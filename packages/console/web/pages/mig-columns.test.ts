import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceColumns } from '../devices/device-columns.ts'
import { GPU_QUERIES } from '../devices/signals.ts'
import { testGpu } from '../devices/test-devices.ts'
import { testColumns } from './test-columns.ts'

test('a number of a GPU that MIG splits is that of its board, whichever series comes first', () => {
  const labels = { gpu: '0', UUID: 'GPU-0' }
  const board = { labels, values: [30_000] }
  const instance = { labels: { ...labels, GPU_I_ID: '1', GPU_I_PROFILE: '1g.10gb' }, values: [4000] }
  for (const series of [
    [instance, board],
    [board, instance],
  ]) {
    const columns = testColumns([{ query: GPU_QUERIES.memoryUsed, series }])
    assert.equal(
      deviceColumns([testGpu(0)], columns)
        .get('gpu-0')
        ?.memoryUsed?.at(-1),
      30_000,
    )
  }
})
