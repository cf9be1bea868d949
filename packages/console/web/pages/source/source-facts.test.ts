import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SourceAnswer } from '@sonde/sdk/api'
import { sourceFacts, sourceHeadline } from './source-facts.ts'

const READING: SourceAnswer = {
  name: 'netdev',
  type: 'netdev',
  host: 'agent',
  stuck: [],
  state: 'reading',
  reason: '',
  intervalMs: 1_000,
  periods: [],
  intervalRealMs: 1_000.4,
  sampleMsP99: 6.32,
  samples: 120,
  records: 960,
  errors: 0,
  overruns: 0,
  restarts: 0,
  dropped: { queue_full: 0 },
  lastSampleMs: 1_790_000_000_000,
  types: ['netdev'],
  summary: 'Network interfaces of the kernel',
  found: '8 interfaces',
  versions: [],
  sampleSeconds: 0.24,
  failures: [],
  targets: [],
  failingTargets: 0,
  disputes: 0,
  settings: [],
  reports: [],
}
const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')

function headline(more: Partial<SourceAnswer>): string {
  const { tone, sentence, facts } = sourceHeadline({ ...READING, ...more })
  return spaced(`${tone} | ${sentence} | ${facts}`)
}

test('a source that reads is a quiet sentence with what it found', () => {
  assert.equal(
    headline({}),
    'calm | netdev is reading: 8 interfaces | Read every 1 s, on the main loop. No read failed, nothing was lost.',
  )
})

test('failed reads and lost records are told before the rest', () => {
  const line = headline({ errors: 3, dropped: { queue_full: 1 } })
  assert.equal(
    line,
    'warning | netdev is reading, with 3 failed reads and 1 record lost | Read every 1 s, on the main loop.',
  )
})

test('a device that is stuck is named with what to do, and a device with periods of its own too', () => {
  const limit = { limitMs: 1000, limitKey: '' }
  const call = {
    device: 'm2',
    duty: 'poll',
    sinceMs: 1_790_000_000_000,
    ...limit,
    reason: 'slow',
    fix: 'look in dmesg',
  }
  const period = { type: '', device: 'm1', sampleUs: null, drainUs: null, reportUs: 10_000 }
  assert.equal(
    headline({ stuck: [call], periods: [period] }),
    'warning | netdev is reading, with 1 stuck call: m2 poll | Read every 1 s, on the main loop. m1 comes every 10 ms. Look in dmesg.',
  )
})

test('absent is no trouble, denied and stuck are', () => {
  const reason = 'no module is loaded'
  assert.equal(headline({ state: 'absent', reason }), 'calm | netdev is absent | No module is loaded.')
  assert.equal(headline({ state: 'denied', reason }), 'warning | netdev is denied | No module is loaded.')
  assert.equal(headline({ state: 'stuck', reason, errors: 1 }).split(' | ')[0], 'critical')
})

test('a sweep is told by its mean and its worst; before the first one there is no number', () => {
  const sweep = (more: Partial<SourceAnswer>): string => {
    const { value, unit, caption } = sourceFacts({ ...READING, ...more })[1]!
    return spaced(`${value} ${unit} | ${String(caption)}`)
  }
  assert.equal(sweep({}), '2 ms | mean; 99 % below 6.32 ms')
  assert.equal(sweep({ samples: 0, sampleMsP99: null }), '– undefined | no sweep yet')
})

test('types and devices with periods of their own are named', () => {
  const own = (device: string) => ({ type: 'diag', device, sampleUs: 100, drainUs: 51_200, reportUs: 250_000 })
  const general = { type: '', device: '', sampleUs: null, drainUs: null, reportUs: 1_000_000 }
  const line = headline({ periods: [general, ...['a', 'b', 'c', 'd'].map(own)] })
  const alike = /main loop\. diag of a, diag of b, diag of c and 1 more come every 250 ms, sampled every 100 µs\. /
  assert.match(line, alike)
})
