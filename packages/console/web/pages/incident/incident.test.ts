import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident, IncidentAnswer, ListedType, MovedAnswer, MovedSignal } from '@sonde/sdk/api'
import { testGpu } from '../../devices/test-devices.ts'
import { testColumns } from '../test-columns.ts'
import { changeWords, valueWords } from './change-words.ts'
import { incidentFacts } from './incident-facts.ts'
import { incidentMarkdown } from './incident-markdown.ts'
import { metricTitles } from './metric-titles.ts'
import { podsThen } from './pods-then.ts'

const NOW_MS = Date.UTC(2026, 6, 31, 10)
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

const REASONS = 'Why clocks are not at their highest, as bits: 0x1 idle, 0x4 power limit'
const types = [
  {
    name: 'gpu',
    fields: [
      { metric: 'power_watts', help: 'Power drawn, mean of the last second' },
      { metric: 'power_now_watts', help: 'Power drawn, newest reading of the sensor' },
      { metric: 'tensor_active', help: 'Share of cycles in which a tensor pipe was busy' },
      { metric: 'reasons', help: REASONS },
      { metric: 'rdma_hw_packet_seq_err_total', help: 'NAKs received for packets out of sequence, with retries left' },
    ],
  },
] as unknown as readonly ListedType[]
const titleOf = metricTitles(types)

function signal(more: Partial<MovedSignal>): MovedSignal {
  return {
    ...{ metric: 'tensor_active', function: 'last', role: 'gauge', unit: 'ratio', labels: {}, device: 'gpu-3' },
    ...{ before: 0.614, after: 0.284, score: 9 },
    ...more,
  } as MovedSignal
}

test('a metric is called as on other pages, else by the first words of its description, in full if shared', () => {
  assert.equal(titleOf('rdma_hw_packet_seq_err_total').title, 'Sequence errors')
  assert.equal(titleOf('tensor_active').title, 'Share of cycles in which a tensor pipe was busy')
  assert.equal(titleOf('reasons').title, 'Why clocks are not at their highest')
  assert.equal(titleOf('power_watts').title, 'Power drawn, mean of the last second')
  assert.deepEqual(titleOf('gone'), { title: 'gone', help: 'gone' })
})

test('a change is told as people tell it: points, a difference, per cent, or that a code is another', () => {
  const words = (more: Partial<MovedSignal>, help = '') => plain(changeWords(signal(more), help))
  assert.equal(words({}), '−33 points')
  assert.equal(words({ before: 0.0004, after: 0.0003 }), '< 0.1 points')
  assert.equal(words({ unit: 'watts', before: 660, after: 175 }), '−73 %')
  assert.equal(words({ unit: 'watts', before: 0, after: 175 }), 'from nothing')
  assert.equal(words({ unit: 'celsius', before: 70, after: 51.4 }), '−19 °C')
  assert.equal(words({ unit: '', before: 4, after: 0 }), '−4')
  assert.equal(words({ unit: '', before: 4, after: 0 }, REASONS), 'changed')
  assert.equal(words({ unit: '', before: 4, after: 1 }, 'State: 1 down, 4 active'), 'changed')
  assert.equal(valueWords(signal({}), 12, REASONS), '0xc')
  assert.equal(plain(valueWords(signal({ unit: 'MiB/s' }), 151_825)), '159 GB/s')
  const energy = { unit: 'millijoules', role: 'counter', function: 'rate', before: 615_000, after: 178_000 } as const
  assert.equal(plain(valueWords(signal(energy), energy.before)), '615 W')
})

test('the Markdown names signals and devices in words, and stays one line where a name is hostile', () => {
  const incident: Incident = {
    ...{ id: 'a:7', node: 'a\n# b', kind: 'hint', state: 'ended', severity: 'critical', rule: 'r`u`le' },
    ...{ device: 'gpu-3', title: '<b>GPU 3</b>', sentence: 'Hot.', affected: ['gpu-3', 'gone'], isSimulated: true },
    ...{ startMs: NOW_MS - 5000, endMs: NOW_MS, hints: [] },
  }
  const note = { atMs: NOW_MS, who: '', text: '- [x](javascript:1)\n# no' }
  const answer: IncidentAnswer = { incident, nowMs: NOW_MS, window: { fromMs: 0, toMs: NOW_MS }, notes: [note] }
  const moved = { signals: [signal({})] } as unknown as MovedAnswer
  const text = incidentMarkdown(answer, [testGpu(3, { id: 'gpu-3' })], { moved, titleOf, address: 'http://a/' })
  assert.match(text, /^# \\<b\\>GPU 3\\<\/b\\> \(simulated\)\n/)
  assert.match(text, /^\* Node: a \\# b$/m)
  assert.match(text, /^\* Rule: `r u le`$/m)
  assert.match(text, /^\* Affected: GPU 3, gone$/m)
  assert.match(text, /^\* Share of cycles .* busy \(`tensor\\?_active`\): 61\.4 % → 28\.4 %, −33 points$/m)
  assert.match(text, /: - \\\[x\\\]\(javascript:1\) \\# no$/m)
})

test('a device that left is called gone, and the node itself is not', () => {
  const caption = (device: string) => {
    const incident: Incident = {
      ...{ id: 'a:7', node: 'a', kind: 'hint', state: 'ended', severity: 'critical', rule: 'data_stall', device },
      ...{ title: '', sentence: '', affected: [], isSimulated: true, startMs: 1, endMs: 2, hints: [] },
    }
    const answer: IncidentAnswer = { incident, nowMs: NOW_MS, window: { fromMs: 0, toMs: 2 }, notes: [] }
    const facts = incidentFacts(answer, [], { nowMs: NOW_MS, zone: 'utc', hrefTo: (path) => path })
    return facts.find(({ label }) => label === 'Where')?.caption
  }
  assert.equal(caption('gpu-3'), 'not on this node now')
  assert.equal(caption('sim-node'), '')
})

test('pods are those of the time: a pod that ended before is not named', () => {
  const labels = (pod: string) => ({ namespace: 'ml', pod, UUID: 'GPU-3', GPU_I_ID: '' })
  const answer = testColumns([
    {
      query: { metric: 'pod_device_present', function: 'last' },
      series: [
        { labels: labels('trainer-1'), values: [1, Number.NaN, Number.NaN] },
        { labels: labels('trainer-0'), values: [Number.NaN, 1, Number.NaN] },
      ],
    },
    { query: { metric: 'pod_gpus', function: 'last' }, series: [] },
  ])
  assert.deepEqual([...podsThen(answer, [testGpu(3)])], [['gpu-3', ['ml/trainer-0']]])
  assert.deepEqual([...podsThen(answer, [testGpu(4)])], [])
})
