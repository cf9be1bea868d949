import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KERNEL_QUERY, kernelMarks, kernelMessages } from './kernel-marks.ts'
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

const of = (...addresses: string[]) => kernelMessages(answer, new Set(addresses))

test('a step with messages is a flag: on the host with the device, on a device with its own alone', () => {
  const ofHost = kernelMarks(kernelMessages(answer, undefined), { hasAddress: true })
  assert.deepEqual(
    ofHost.map(({ label }) => label),
    ['Kernel: Xid 79 0000:9a:00.0', 'Kernel: PCIe error corrected 0000:81:00.0'],
  )
  assert.deepEqual(
    kernelMarks(of('0000:9a:00.0'), { hasAddress: false }).map(({ label, fromMs, toMs }) => [label, fromMs, toMs]),
    [['Kernel: Xid 79', answer.grid?.times[1], answer.grid?.times[1]]],
  )
  assert.deepEqual(of('0000:01:00.0'), [])
})

test('messages about several devices stand in the order in which they came, with their numbers', () => {
  assert.deepEqual(
    of('0000:81:00.0', '0000:9a:00.0').map(({ words, address, count }) => [words, address, count]),
    [
      ['Xid 79', '0000:9a:00.0', 2],
      ['PCIe error corrected', '0000:81:00.0', 1],
    ],
  )
})
