import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deviceSentence } from '../../devices/device-sentence.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { momentHints } from '../../devices/moment-hints.ts'
import { nodeSentence } from '../../devices/node-sentence.ts'
import { testGpu, testNic } from '../../devices/test-devices.ts'
import { NOW_MS, testHint, testMoment, testSeen } from '../../devices/test-hints.ts'
import { gpuTile, nicTile } from '../../devices/tile-words.ts'
import { portState } from '../fabric/port-state.ts'
import { evidenceOf } from './evidence.ts'
import { hintNotes, hintRow } from './hint-row.ts'

const CONTEXT = { isNow: true, stepMs: 1_000, zone: 'utc', sentTop: 50e9 } as const
const ACTIVE = { state: Float64Array.of(4), sent: Float64Array.of(29e9) }
const SPAN = { fromMs: NOW_MS - 3_600_000, toMs: NOW_MS }
const ANSWER = { nowMs: NOW_MS, rules: 18, blind: [], ...SPAN, hints: [], ended: [], unknown: [] }
/** 2026-09-21 14:13:20 UTC. */
const PAST = testMoment({ toMs: NOW_MS, tense: 'past', nowMs: NOW_MS + 600_000 })
const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')

test('sentence 1: who zooms into an incident sees it, though it ended before the window did', () => {
  const storm = testHint({ seenMs: NOW_MS - 30_000, endedMs: NOW_MS - 30_000, outcome: 'ended' })
  const seen = momentHints({ ...ANSWER, ended: [storm] }, false)
  const hint = worstByDevice(seen.hints).get(storm.device)
  const tile = nicTile(testNic(3), ACTIVE, { ...CONTEXT, hint, isJudged: seen.isKnown })
  assert.deepEqual([tile.tone, tile.word], ['critical', 'losing packets'])
  assert.equal(
    portState({ device: testNic(3), columns: ACTIVE, label: 'NIC 3' } as never, seen, CONTEXT).tone,
    'critical',
  )
  const sentence = deviceSentence(testNic(3), seen, PAST)
  assert.equal(sentence.sentence, 'From 14:11:15 UTC to 14:12:50 UTC: NIC 3 is losing packets')
  assert.match(sentence.facts, /^At 14:12:50 UTC: mlx5_3 counts/)
})

test('sentence 1: of a window that is not known nothing is said to be in range', () => {
  const unknown = [{ ...SPAN, reason: 'Sonde did not run.' }]
  const seen = momentHints({ ...ANSWER, unknown }, false)
  const tile = nicTile(testNic(3), ACTIVE, { ...CONTEXT, isJudged: seen.isKnown })
  assert.deepEqual([tile.tone, /^Not judged/.test(tile.word)], ['absent', true])
  assert.equal(
    portState({ device: testNic(3), columns: ACTIVE, label: 'NIC 3' } as never, seen, CONTEXT).tone,
    'absent',
  )
  const { sentence, facts } = deviceSentence(testNic(3), seen, PAST)
  assert.equal(sentence, 'NIC 3 was read.')
  assert.match(facts, /^What rules saw is not known from 2026-09-21 13:13:20 – 14:13:20 UTC: Sonde did not run\.$/)
})

test('sentence 2: after a restart the table says from when on nothing was', () => {
  const unknown = [{ fromMs: SPAN.fromMs, toMs: NOW_MS - 60_000, reason: 'Sonde started then.' }]
  const { empty, notes } = hintNotes(testSeen([], { unknown }), testMoment())
  assert.equal(empty, 'Nothing holds, and nothing did since 14:12:20 UTC.')
  assert.match(notes, /not known from .* 14:12:20 UTC: Sonde started then\.$/)
  const whole = hintNotes(testSeen(), testMoment())
  assert.deepEqual(whole, { empty: 'Nothing holds, and nothing did within the last hour.', notes: '' })
})

test('sentence 3: numbers of a rule that held minutes ago bear the time of the count', () => {
  const seenMs = NOW_MS - 360_000
  const sentence = 'GPU 4 counts uncorrected memory errors: 1 in the last minute, limit 1'
  const hint = testHint({
    rule: 'ecc_uncorrected',
    device: 'gpu-4',
    title: 'GPU 4 has errors',
    sentence,
    seenMs,
    stage: 'lingering',
  })
  const said = deviceSentence(testGpu(4), testSeen([hint]), testMoment())
  assert.equal(said.sentence, 'At 14:07:20 UTC: GPU 4 has errors')
  assert.equal(said.facts, `At 14:07:20 UTC: ${sentence}.`)
  assert.equal(hintRow(hint, testMoment()).sentence, `At 14:07:20 UTC: ${sentence}.`)
})

test('sentence 4: a brake marks every GPU while it holds, and is no alarm once it does not', () => {
  const devices = [testGpu(0), testGpu(1)]
  const affected = devices.map(({ id }) => id)
  const brake = testHint({ rule: 'power_brake', device: 'sim-node', affected, title: 'The power brake slows GPUs' })
  const toneOf = (hint: typeof brake) =>
    gpuTile(testGpu(1), ACTIVE, { ...CONTEXT, isJudged: true, hint: worstByDevice([hint]).get('gpu-1') }).tone
  const over = { ...brake, stage: 'lingering', seenMs: NOW_MS - 10_000 } as const
  assert.deepEqual([toneOf(brake), toneOf(over)], ['critical', 'info'])
  const state = { devices, ...testSeen([over]), unknown: '', ruleCount: 18, lastEndedMs: undefined }
  const { tone, sentence } = nodeSentence({ ...state, power: 1, sent: 1, moment: testMoment() })
  assert.deepEqual([tone, sentence], ['info', 'At 14:13:10 UTC: The power brake slows GPUs'])
  assert.equal(hintRow(over, testMoment()).state.word, 'Holds no more')
})

test('sentence 6: evidence of a hint that ended opens where it was, from a minute before to a minute after', () => {
  const ended = testHint({ endedMs: NOW_MS - 1_800_000, sinceMs: NOW_MS - 1_900_000, outcome: 'ended' })
  const { fromMs, toMs, rangeMs } = evidenceOf(ended, { nowMs: NOW_MS })
  assert.deepEqual([fromMs, toMs, rangeMs], [NOW_MS - 1_960_000, NOW_MS - 1_740_000, undefined])
  const open = evidenceOf(testHint(), { nowMs: NOW_MS })
  assert.deepEqual([open.fromMs, open.toMs, open.rangeMs], [undefined, undefined, 240_000], 'what is open follows now')
  const past = evidenceOf(testHint(), { nowMs: NOW_MS + 9e6, toMs: NOW_MS })
  assert.deepEqual([past.fromMs, past.toMs], [NOW_MS - 185_000, NOW_MS + 60_000])
})

test('sentence 7: what was never confirmed, or was cut off, is not listed as ended', () => {
  const over = { stage: 'forming', seenMs: NOW_MS - 60_000, endedMs: NOW_MS - 60_000 } as const
  const word = (outcome: 'ended' | 'dismissed' | 'cut') => hintRow(testHint({ ...over, outcome }), testMoment()).state
  assert.deepEqual(
    [word('dismissed').word, word('cut').word, word('ended').word],
    ['Not confirmed', 'Cut off: Sonde stopped', 'Ended'],
  )
  assert.equal(spaced(hintRow(testHint({ ...over, outcome: 'dismissed' }), testMoment()).lasted), '1 min 5 s')
})
