import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HistoryStatus, LatestSeries, ListedSource } from '@sonde/sdk/api'
import { groupAbsences } from './absences.ts'
import { sourcesHeadline } from './sources-headline.ts'
import { storeFacts } from './store-facts.ts'

const spaced = (text: string): string => text.replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')

function source(name: string, more: Partial<ListedSource> = {}): ListedSource {
  return {
    name,
    type: name,
    host: 'agent',
    stuck: [],
    state: 'reading',
    reason: '',
    intervalMs: 1_000,
    periods: [],
    intervalRealMs: 1_000,
    sampleMsP99: 1,
    samples: 10,
    records: 100,
    errors: 0,
    overruns: 0,
    restarts: 0,
    dropped: {},
    failingTargets: 0,
    disputes: 0,
    lastSampleMs: 0,
    types: [],
    ...more,
  }
}

const BALANCED = { in: 12_345, out: 12_345, dropped: 0 }

test('sources that read are one quiet sentence, with a ledger that adds up', () => {
  const text = sourcesHeadline({
    sources: [source('host'), source('netdev')],
    clients: [],
    sinks: [],
    ledger: BALANCED,
  })
  assert.equal(text.tone, 'calm')
  assert.equal(spaced(text.sentence), '2 sources reading')
  assert.equal(spaced(text.facts), '12 345 records in, 12 345 out, 0 dropped. The ledger adds up.')
})

test('absent hardware is normal, a stuck source is not', () => {
  const absent = source('doca', { state: 'absent', reason: 'No DPU.' })
  assert.equal(
    sourcesHeadline({ sources: [source('host'), absent], clients: [], sinks: [], ledger: BALANCED }).tone,
    'calm',
  )
  const stuck = source('gpu', { state: 'stuck', reason: 'a call has not returned for 12 s' })
  const text = sourcesHeadline({ sources: [source('host'), absent, stuck], clients: [], sinks: [], ledger: BALANCED })
  assert.equal(text.tone, 'critical')
  assert.equal(text.sentence, 'gpu is stuck')
  assert.equal(spaced(text.facts), 'A call has not returned for 12 s. 1 source reading, 1 absent, 1 stuck.')
  const failed = source('ethtool', { state: 'failed', reason: '/sys/class/net is not there' })
  const ofFailed = sourcesHeadline({ sources: [failed], clients: [], sinks: [], ledger: BALANCED })
  assert.equal(ofFailed.sentence, 'ethtool has failed')
  assert.equal(spaced(ofFailed.facts), '/sys/class/net is not there. 0 sources reading, 1 failed.')
})

test('a sink that fails is said, with the reason', () => {
  const set = { set: 'full', intervalS: 0 } as const
  const counts = { ...set, in: 5, out: 0, dropped: {}, hidden: {}, causes: {}, duplicates: 0, errors: 1, seconds: 0 }
  const sinks = [
    { ...counts, name: 'store', failing: '' },
    { ...counts, name: 'collector', failing: 'HTTP 503 try again later' },
  ]
  const text = sourcesHeadline({ sources: [source('host')], clients: [], sinks, ledger: BALANCED })
  assert.equal(text.tone, 'warning')
  assert.equal(text.sentence, 'collector is failing')
  assert.equal(spaced(text.facts), 'HTTP 503 try again later. 5 records in, 0 out, 5 waiting, 0 dropped.')
  const both = sinks.map((sink) => ({ ...sink, failing: 'Full.', dropped: { rejected: 2 } }))
  const ofBoth = sourcesHeadline({ sources: [source('host')], clients: [], sinks: both, ledger: BALANCED })
  assert.equal(ofBoth.sentence, 'store, collector are failing')
  assert.match(spaced(ofBoth.facts), /store: Full\. 5 records in, 0 out, 3 waiting, 2 dropped\. collector: Full\./)
})

test('lost records are said, and a ledger that does not add up', () => {
  const losing = source('netdev', { dropped: { queue_full: 7 } })
  const text = sourcesHeadline({ sources: [losing], clients: [], sinks: [], ledger: { in: 10, out: 2, dropped: 7 } })
  assert.equal(text.tone, 'warning')
  assert.equal(text.sentence, 'netdev lost records')
  assert.match(text.facts, /does not add up/)
})

test('one reason for many series is one row', () => {
  const value = (metric: string, device: string, absent: string): LatestSeries => ({
    metric,
    labels: { device },
    value: absent === '' ? '1' : null,
    timeMs: 0,
    absent,
  })
  const reason = (device: string): string => `/sys/class/net/${device}/speed: the driver does not know it`
  const absences = groupAbsences([
    value('netdev_up', 'eth0', ''),
    value('netdev_speed_bytes_per_second', 'eth10', reason('eth10')),
    value('netdev_speed_bytes_per_second', 'eth2', reason('eth2')),
    value('netdev_carrier', 'eth2', 'the interface is switched off'),
    value('netdev_mtu', 'eth0', 'eth0: not told'),
    value('netdev_mtu', 'eth2', 'eth2: not told'),
  ])
  assert.deepEqual(absences, [
    { reason: 'the interface is switched off', metrics: ['netdev_carrier'], series: ['eth2'] },
    { reason: '<device>: not told', metrics: ['netdev_mtu'], series: ['eth0', 'eth2'] },
    { reason: reason('<device>'), metrics: ['netdev_speed_bytes_per_second'], series: ['eth2', 'eth10'] },
  ])
})

const STORE: HistoryStatus = {
  state: 'writing',
  reason: '',
  bytes: 5 * 1024 ** 2,
  oldestMs: Date.UTC(2026, 6, 31),
  ackedMs: Date.UTC(2026, 6, 31, 10, 4, 31),
  queuedBytes: 0,
  errors: 0,
  corruptChunks: 0,
  backlogBytes: 0,
}

test('the store says what it does, its size, and what is safe', () => {
  const facts = storeFacts(STORE, 'utc').map(({ label, value, unit = '' }) => `${label}: ${value} ${unit}`.trim())
  assert.deepEqual(facts, [
    'Store: Writing',
    'Size on disk: 5.00 MiB',
    'Kept since, UTC: 2026-07-31 00:00',
    'Acknowledged up to, UTC: 10:04:31',
    'Waiting for the disk: 0 B',
    'Failures: 0',
  ])
})

test('a store that fails says why; where there is none, that is said', () => {
  const [failing] = storeFacts({ ...STORE, state: 'failing', reason: 'The disk is full.' }, 'utc')
  assert.deepEqual([failing?.value, failing?.caption, failing?.tone], ['Failing', 'The disk is full.', 'critical'])
  assert.equal(storeFacts({ ...STORE, state: 'none' }, 'utc').length, 1)
  assert.equal(storeFacts({ ...STORE, oldestMs: null, ackedMs: 0 }, 'utc')[3]?.value, '–')
})
