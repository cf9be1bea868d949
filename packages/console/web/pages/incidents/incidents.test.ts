import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint, Incident, IncidentsAnswer, TracebackEvent } from '@sonde/sdk/api'
import { testNic } from '../../devices/test-devices.ts'
import { eventDevice, eventPlace, titledDevices } from './event-device.ts'
import { endSentence, eventState, keptWords, lastedWords, nothingWords, windowWords } from './event-words.ts'
import { incidentsRequest, isFiltered } from './incident-filters.ts'
import {
  incidentSentences,
  incidentState,
  incidentsHeadline,
  pastSeverity,
  windowHeadline,
  worstFirst,
} from './incident-words.ts'

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

function testIncident(more: Partial<Incident> = {}): Incident {
  return {
    ...{ id: 'a-node:7', node: 'a-node', kind: 'hint', state: 'open', severity: 'critical', rule: 'thermal_throttle' },
    ...{ device: 'gpu-3', title: 'GPU 3 slows down for heat', sentence: 'It is at 90 °C, limit 89 °C', affected: [] },
    ...{ startMs: NOW_MS - 125_000, isSimulated: false, hints: [testHint('1'), testHint('2'), testHint('3')] },
    ...more,
  }
}

function testHint(event: string): Hint {
  return {
    ...{ id: `thermal_throttle/gpu-${event}`, event, rule: 'thermal_throttle', device: `gpu-${event}` },
    ...{
      severity: 'critical',
      stage: 'standing',
      title: 'Hot',
      sentence: 'Hot',
      value: 90,
      comparator: '>',
      limit: 89,
    },
    ...{ sinceMs: 1, seenMs: 2, measuredMs: 2, neededMs: 0, unit: '°C', evidence: [], affected: [], lacks: [] },
  }
}

const answerOf = (incidents: readonly Incident[]): IncidentsAnswer => ({
  ...{ nowMs: NOW_MS, fromMs: 0, toMs: NOW_MS, incidents, rules: 27, blind: [], unknown: [] },
  openCount: incidents.filter(({ state }) => state === 'open').length,
  traceback: { watching: [], limited: 0, removed: 0 },
})

test('open incidents stand first, the worst of them first; the order of the others stays', () => {
  const ids = worstFirst([
    testIncident({ id: 'notice', severity: 'notice' }),
    testIncident({ id: 'late', state: 'ended' }),
    testIncident({ id: 'critical' }),
    testIncident({ id: 'early', state: 'ended' }),
  ]).map(({ id }) => id)
  assert.deepEqual(ids, ['critical', 'notice', 'late', 'early'])
})

test('the headline names an open incident, counts several, and is calm without any', () => {
  const one = incidentsHeadline(answerOf([testIncident()]), NOW_MS, 'present')
  assert.deepEqual([one.tone, plain(one.sentence)], ['critical', 'GPU 3 slows down for heat, for 2 min 5 s.'])
  assert.match(plain(one.facts), /^It is at 90 °C, limit 89 °C\. 2 further hints of the same cause\. 27 rules of hints/)
  const notice = testIncident({ id: 'a-node:8', severity: 'notice', title: 'GPU 1 is shared' })
  const two = incidentsHeadline(answerOf([notice, testIncident()]), NOW_MS, 'present')
  assert.deepEqual([two.tone, plain(two.sentence)], ['critical', '2 incidents are open.'])
  assert.match(plain(two.facts), /^The worst: GPU 3 slows down for heat, for 2 min 5 s\./)
  const none = incidentsHeadline(answerOf([]), NOW_MS, 'past')
  assert.deepEqual([none.tone, none.sentence], ['calm', 'No incident was open.'])
})

test('the headline of a past window counts what is listed, and takes what is not known for no calm', () => {
  const words = (answer: IncidentsAnswer) => plain(windowHeadline(answer).sentence)
  assert.equal(words(answerOf([testIncident()])), '1 incident.')
  assert.equal(words({ ...answerOf([testIncident()]), next: 'further' }), 'More than 1 incident.')
  assert.equal(words(answerOf([])), 'No incident.')
  const unknown = [{ fromMs: NOW_MS - 60_000, toMs: NOW_MS, reason: 'Sonde did not run.' }]
  assert.equal(words({ ...answerOf([]), unknown }), 'No incident is known.')
})

test('the state of an incident is that of its cause, and of an event its end', () => {
  assert.deepEqual(incidentState(testIncident()), { tone: 'critical', word: 'Critical' })
  assert.equal(pastSeverity(testIncident()), '')
  assert.equal(pastSeverity(testIncident({ state: 'ended' })), 'was critical')
  assert.equal(pastSeverity(testIncident({ state: 'ended', severity: 'notice' })), '')
  const hints = [{ ...testHint('1'), endedMs: 2, outcome: 'cut' as const }]
  assert.equal(incidentState(testIncident({ state: 'ended', hints })).word, 'Cut off: Sonde stopped')
  const event = testEvent({ endMs: 1, end: 'truncated' })
  assert.equal(incidentState(testIncident({ kind: 'event', state: 'ended', hints: [], event })).word, 'Truncated')
  assert.match(incidentSentences(testIncident({ hints: [], event })), /limit 89 °C\. The disk accepted no more/)
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

test('a window that follows now asks the same question for a while, and never for less than it says', () => {
  const url = { withinMs: 3_600_000, rule: 'a b', severity: 'critical', q: ' hot ', kind: 'hint' } as const
  const first = incidentsRequest(url, NOW_MS + 1_000)
  assert.deepEqual(incidentsRequest(url, NOW_MS + 2_000), first)
  assert.ok(first.fromMs! <= NOW_MS + 1_000 - 3_600_000)
  assert.deepEqual([first.rule, first.severity, first.find, first.kind], ['a b', 'critical', 'hot', 'hint'])
  assert.equal(incidentsRequest({ kind: 'gpu' }, NOW_MS).kind, undefined, 'the kind of another page')
})

test('a window of the address comes before one that follows now', () => {
  const request = incidentsRequest({ fromMs: 1, toMs: 2, withinMs: 3_600_000 }, NOW_MS)
  assert.deepEqual([request.fromMs, request.toMs], [1, 2])
  assert.equal(isFiltered({ tz: 'utc', q: '' }), false)
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
