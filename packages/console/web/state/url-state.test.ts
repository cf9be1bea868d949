import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatSpan,
  formatTime,
  formatUrl,
  type IgnoredPart,
  parseSpan,
  parseTimeMs,
  parseUrl,
  type UrlState,
} from './url-state.ts'

test('an address that was written reads back as the same state', () => {
  const states: readonly UrlState[] = [
    {},
    { rangeMs: 300_000 },
    { fromMs: Date.UTC(2026, 6, 31), toMs: Date.UTC(2026, 6, 31, 1, 0, 0, 250), atMs: Date.UTC(2026, 6, 31, 0, 30) },
    { rangeMs: 86_400_000, lit: ['gpu3', 'gpu5'], view: 'lines', sort: '-sent', q: 'a b&c=d', tz: 'local' },
    { sig: ['rate:netdev_rx_bytes_total:device=eth0', 'last:netdev_up'], stepMs: 15_000 },
    { stepMs: 500 },
    { sort: '-state', idle: 'shown' },
    { rule: 'tx > rx & more', device: 'sim-nic-0-1', state: 'open', withinMs: 86_400_000 },
    { exporter: 'operator', program: 'ps' },
    { q: 'link speed', kind: 'pci', sort: 'change' },
    { zoom: { fromMs: Date.UTC(2026, 6, 31) + 0.25, toMs: Date.UTC(2026, 6, 31) + 1.375 } },
  ]
  for (const state of states) assert.deepEqual(parseUrl(formatUrl(state)), { state, ignored: [] })
})

test('an address is readable, in a fixed order', () => {
  const state: UrlState = { tz: 'utc', rangeMs: 3_600_000, sig: ['rate:a:device=eth0'], stepMs: 1_000 }
  assert.equal(formatUrl(state), '?range=1h&sig=rate:a:device=eth0&step=1s&tz=utc')
  assert.equal(formatUrl({ q: '' }), '')
})

test('what is unknown or wrong is named, and the rest is followed', () => {
  const { state, ignored } = parseUrl('?range=5m&colour=red&step=fast&tz=mars')
  assert.deepEqual(state, { rangeMs: 300_000 })
  assert.deepEqual(partsOf(ignored), ['colour', 'step', 'tz'])
})

test('what every object has is no parameter', () => {
  const { state, ignored } = parseUrl('?toString=1&constructor=2&__proto__=3')
  assert.deepEqual(state, {})
  assert.deepEqual(partsOf(ignored), ['toString', 'constructor', '__proto__'])
  assert.equal(ignored[0]?.reason, 'Nothing here takes toString.')
})

test('a span needs both ends, in order', () => {
  const half = parseUrl('?from=2026-07-31T10:00:00Z')
  assert.deepEqual([half.state, partsOf(half.ignored)], [{}, ['from']])
  const reversed = parseUrl('?from=2026-07-31T10:00:00Z&to=2026-07-31T09:00:00Z')
  assert.deepEqual([reversed.state, partsOf(reversed.ignored)], [{}, ['from', 'to']])
  assert.match(reversed.ignored[0]?.reason ?? '', /^from and to are two times such as 2026-/)
})

test('a signal that cannot be read is named with the reason, and the others are followed', () => {
  const { state, ignored } = parseUrl('?sig=rate:a&sig=median:b&sig=last:c:device')
  assert.deepEqual(state, { sig: ['rate:a'] })
  assert.deepEqual(partsOf(ignored), ['sig=median:b', 'sig=last:c:device'])
  assert.ok(ignored.every(({ reason }) => reason !== ''))
  assert.deepEqual(parseUrl('?sig=rate').state, {})
})

test('signals beyond the limit are named, not dropped in silence', () => {
  const texts = Array.from({ length: 18 }, (_, order) => `rate:a${order}`)
  const { state, ignored } = parseUrl(formatUrl({ sig: texts }))
  assert.equal(state.sig?.length, 16)
  assert.deepEqual(partsOf(ignored), ['sig=rate:a16', 'sig=rate:a17'])
})

function partsOf(ignored: readonly IgnoredPart[]): readonly string[] {
  return ignored.map(({ part }) => part)
}

test('durations have a unit and bounds', () => {
  assert.equal(parseSpan('24h', 0, Number.POSITIVE_INFINITY), 86_400_000)
  assert.equal(parseSpan('500ms', 0, 1_000), 500)
  for (const wrong of ['', '5', '5x', '-5m', '1.5h', '9999999s']) assert.equal(parseSpan(wrong, 0, 1e15), undefined)
  assert.equal(parseSpan('5s', 10_000, 1e9), undefined)
  assert.deepEqual([300_000, 86_400_000, 172_800_000, 90_000, 1_500].map(formatSpan), [
    '5m',
    '24h',
    '2d',
    '90s',
    '1500ms',
  ])
})

test('times keep digits below a millisecond when read, and stand in UTC when written', () => {
  assert.equal(parseTimeMs('2026-07-31T10:00:00.000250Z'), Date.UTC(2026, 6, 31, 10) + 0.25)
  assert.equal(parseTimeMs('2026-07-31T10:00+02:00'), Date.UTC(2026, 6, 31, 8))
  assert.equal(parseTimeMs('31.7.2026'), undefined)
  assert.equal(parseTimeMs('2026-13-41T10:00Z'), undefined)
  assert.equal(formatTime(Date.UTC(2026, 6, 31, 10)), '2026-07-31T10:00:00Z')
  assert.equal(formatTime(Date.UTC(2026, 6, 31, 10) + 0.25), '2026-07-31T10:00:00.000250Z')
  assert.equal(formatTime(Date.UTC(2026, 6, 31, 10) + 0.9999), '2026-07-31T10:00:00.001Z')
})

test('a zoom is an interval in order, and anything else is named', () => {
  const from = '2026-07-31T10:00:00.000001Z'
  assert.equal(formatUrl(parseUrl(`?zoom=${from}/2026-07-31T10:00:01Z`).state), `?zoom=${from}/2026-07-31T10:00:01Z`)
  for (const wrong of [from, `${from}/${from}`, `${from}/x`, `${from}/${from}/${from}`])
    assert.deepEqual(partsOf(parseUrl(`?zoom=${wrong}`).ignored), ['zoom'])
})
