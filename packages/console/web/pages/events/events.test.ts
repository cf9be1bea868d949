import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { eventsAddress } from '../../api/events.ts'
import { testNic } from '../../devices/test-devices.ts'
import { eventDevice, eventPlace, titledDevices } from './event-device.ts'
import { eventsRequest, isFiltered } from './event-filters.ts'
import {
  endSentence,
  eventState,
  keptWords,
  lastedWords,
  limitSentences,
  nothingWords,
  openFirst,
  windowWords,
} from './event-words.ts'
import { eventsHeadline, windowHeadline } from './events-headline.ts'

const NOW_MS = Date.UTC(2026, 6, 31, 10)
const plain = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ')

function testEvent(more: Partial<TracebackEvent> = {}): TracebackEvent {
  return {
    id: 1,
    rule: 'PCIe stalls',
    condition: 'stalls rise',
    device: 'mlx5_3',
    source: 'doca_diag',
    startMs: NOW_MS - 125_000,
    errorMs: 0.05,
    window: { fromMs: NOW_MS - 127_000, toMs: NOW_MS - 121_000 },
    samples: 188_420,
    leftOut: 0,
    sizeBytes: 3_250_000,
    isSimulated: false,
    ...more,
  }
}
const answerOf = (events: readonly TracebackEvent[], more: Partial<EventsAnswer> = {}): EventsAnswer => ({
  nowMs: NOW_MS,
  events,
  leftOut: 0,
  openCount: events.filter(({ endMs }) => endMs === undefined).length,
  rules: [{ name: 'PCIe stalls', condition: 'stalls rise', devices: ['mlx5_3'] }],
  limited: 0,
  removed: 0,
  ...more,
})

test('open events stand first, the latest first among both', () => {
  const events = [
    testEvent({ id: 4, startMs: NOW_MS - 10, endMs: NOW_MS }),
    testEvent({ id: 3, startMs: NOW_MS - 900, endMs: NOW_MS }),
    testEvent({ id: 2, startMs: NOW_MS - 5_000 }),
    testEvent({ id: 1, startMs: NOW_MS - 800 }),
  ]
  assert.deepEqual(
    openFirst(events).map(({ id }) => id),
    [1, 2, 4, 3],
  )
})

test('an end has a word and a sentence, and only one that cleared is well', () => {
  assert.deepEqual(eventState(testEvent()), { tone: 'critical', word: 'Open' })
  assert.deepEqual(eventState(testEvent({ endMs: 1, end: 'cleared' })), { tone: 'ok', word: 'Cleared' })
  for (const end of ['lost', 'cut', 'stopped', 'host_replaced', 'truncated'] as const) {
    assert.equal(eventState({ endMs: 1, end }).tone, 'warning')
    assert.match(endSentence({ endMs: 1, end }), /^[A-Z].*\.$/)
  }
})

test('durations run on while an event is open', () => {
  assert.equal(plain(lastedWords(testEvent(), NOW_MS)), '2 min 5 s')
  assert.equal(plain(lastedWords(testEvent({ endMs: NOW_MS - 125_000 + 0.3 }), NOW_MS)), '300 µs')
})

test('what is kept is told with its size and window, or that nothing is', () => {
  assert.equal(plain(keptWords(testEvent())), '188 420 · 3.10 MiB')
  assert.equal(keptWords(testEvent({ samples: 0 })), 'none')
  assert.equal(plain(windowWords(testEvent())), '−2 s to +4 s')
  const { window: _window, ...bare } = testEvent()
  assert.equal(windowWords(bare), 'none')
})

test('what limits left out is told, and nothing where they left out nothing', () => {
  assert.deepEqual(limitSentences(answerOf([testEvent()])), [])
  const told = limitSentences(answerOf([testEvent()], { leftOut: 240, limited: 1, removed: 2 })).map(plain)
  assert.match(told[0] ?? '', /latest 1; 240 earlier events match/)
  assert.match(told[1] ?? '', /1 event came faster than the limit/)
  assert.match(told[2] ?? '', /^2 events made room for others/)
})

test('the headline names an open event, counts several, and is calm without any', () => {
  const one = eventsHeadline(answerOf([testEvent()]), NOW_MS, 'present')
  assert.deepEqual([one.tone, plain(one.sentence)], ['critical', 'PCIe stalls: open on mlx5_3 for 2 min 5 s.'])
  const two = eventsHeadline(answerOf([testEvent(), testEvent({ id: 2, startMs: NOW_MS - 9_000 })]), NOW_MS, 'present')
  assert.equal(plain(two.sentence), '2 events are open.')
  assert.match(plain(two.facts), /^The latest: .* for 9 s\. 1 rule watches\.$/)
  const none = eventsHeadline(answerOf([]), NOW_MS, 'past')
  assert.deepEqual([none.tone, none.sentence, plain(none.facts)], ['calm', 'No event was open.', '1 rule watched.'])
})

test('a window that is over is headed by what is listed of it, whatever is open now', () => {
  assert.equal(plain(windowHeadline(answerOf([testEvent()]), 3).sentence), '1 event and 3 hints.')
  assert.equal(windowHeadline(answerOf([]), 0).sentence, 'No event and no hint.')
  assert.equal(windowHeadline(answerOf([]), undefined).sentence, 'No event.')
})

test('a window that follows now asks the same question for a while, and never for less than it says', () => {
  const url = { withinMs: 3_600_000, rule: 'a b' }
  const first = eventsRequest(url, NOW_MS + 1_000)
  assert.deepEqual(eventsRequest(url, NOW_MS + 2_000), first)
  assert.ok(first.fromMs! <= NOW_MS + 1_000 - 3_600_000)
  assert.equal(eventsAddress(first), `/api/v1/events?rule=a%20b&from=${NOW_MS - 3_600_000}`)
  assert.equal(eventsAddress({}), '/api/v1/events')
})

test('a window of the address comes before one that follows now', () => {
  const request = eventsRequest({ fromMs: 1, toMs: 2, withinMs: 3_600_000 }, NOW_MS)
  assert.deepEqual([request.fromMs, request.toMs], [1, 2])
  assert.equal(isFiltered({ tz: 'utc', q: 'x' }), false)
  assert.equal(isFiltered({ device: 'mlx5_3' }), true)
})

test('a device is found by id, then by name among those that are as real', () => {
  const real = testNic(3)
  const twin = testNic(3, { id: 'sim-nic-mlx5_3-1', simulated: true })
  assert.equal(eventDevice({ device: 'mlx5_3', isSimulated: false }, [twin, real]), real)
  assert.equal(eventDevice({ device: 'mlx5_3', isSimulated: true }, [real, twin]), twin)
  assert.equal(eventDevice({ device: 'sim-nic-mlx5_3-1', isSimulated: false }, [real, twin]), twin)
  assert.equal(eventDevice({ device: real.id, isSimulated: false }, [twin, real]), real, 'its page leads to its events')
  assert.equal(eventDevice({ device: 'gone', isSimulated: false }, [real]), undefined)
})

test('a device is named by its title, and told apart where two have one', () => {
  const nic = testNic(3)
  const simulated = testNic(3, { id: 'sim-nic-mlx5_3-1', simulated: true })
  assert.equal(eventPlace(testEvent({ device: nic.id }), [nic]), 'NIC 3')
  assert.equal(eventPlace(testEvent({ device: 'port 9' }), [nic]), 'port 9')
  assert.equal(eventPlace(testEvent({ device: '' }), [nic]), 'the node')
  assert.deepEqual(titledDevices(['other', nic.id], [nic]), [
    [nic.id, 'NIC 3'],
    ['other', 'other'],
  ])
  assert.deepEqual(
    titledDevices([nic.id, simulated.id], [nic, simulated]).map(([, title]) => title),
    ['NIC 3, nic-mlx5_3-1', 'NIC 3, sim-nic-mlx5_3-1'],
  )
})

test('a window without a time before begins at the start', () => {
  const event = testEvent({ window: { fromMs: NOW_MS - 125_000, toMs: NOW_MS - 121_000 } })
  assert.equal(plain(windowWords(event)), 'start to +4 s')
})

test('a rule that watches nothing says whether it ever did, and who left', () => {
  assert.equal(nothingWords(undefined, 'utc'), 'nothing yet')
  const atMs = Date.UTC(2026, 10, 24, 14, 3, 7)
  assert.equal(nothingWords({ who: 'bakery', atMs }, 'utc'), 'nothing since 14:03:07, when bakery left')
})
