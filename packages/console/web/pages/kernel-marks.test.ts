import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KERNEL_QUERY, kernelMarks } from './kernel-marks.ts'
import { testColumns } from './test-columns.ts'

const answer = testColumns([
  {
    query: KERNEL_QUERY,
    series: [
      { labels: { kind: 'xid', code: '79', device: '0000:9a:00.0' }, values: [0, 2, Number.NaN] },
      { labels: { kind: 'aer', code: 'corrected', device: '0000:81:00.0' }, values: [0, 0, 1] },
    ],
  },
])

test('a step with messages is a flag: on the host with the device, on a device with its own alone', () => {
  assert.deepEqual(
    kernelMarks(answer, undefined).map(({ label }) => label),
    ['Kernel: Xid 79 0000:9a:00.0', 'Kernel: PCIe error corrected 0000:81:00.0'],
  )
  assert.deepEqual(
    kernelMarks(answer, '0000:9a:00.0').map(({ label, fromMs, toMs }) => [label, fromMs, toMs]),
    [['Kernel: Xid 79', answer.grid?.times[1], answer.grid?.times[1]]],
  )
  assert.deepEqual(kernelMarks(answer, '0000:01:00.0'), [])
})
