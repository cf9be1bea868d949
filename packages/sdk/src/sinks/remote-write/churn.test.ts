import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode1, decode2 } from '../../../test/remote-write-peer.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import { counter, defineType, wallNs } from '../../index.ts'
import { absenceType } from '../../schema/builtin.ts'
import { InternedTexts } from '../../wire/remote-write/interned.ts'
import { Pushes } from './pushes.ts'
import { EncodedBudget } from './row-writer.ts'
import { SentSeries } from './sent-series.ts'
import { Versions } from './versions.ts'

/** A month of pods: each quarter of an hour some come and the former go. */
const ROUNDS = 30 * 24 * 4
const PODS = 5
const SIGNAL = new AbortController().signal
const WRITTEN = 'x-prometheus-remote-write-samples-written'

test('a month of pods that come and go leaves no series and no texts behind, and every series has its labels', async () => {
  const texts = new InternedTexts({ texts: 500, bytes: 1 << 20 })
  const book = new SentSeries({ seriesLimit: 1000, expiryMs: 300_000, aheadMs: 600_000 })
  const versions = new Versions('2.0', 'test')
  const seen = new Map<string, number[]>()
  let textsMax = 0
  const pushes = new Pushes({
    ...{ book, versions, texts, external: [], isNative: false, nowMs: () => Date.now() },
    limits: { samplesMax: 1000, bytesMax: 1 << 20 },
    async send(request) {
      const series = decode2(request.body as Buffer)
      const header = (name: string) => (name === WRITTEN ? String(series.length) : undefined)
      versions.resultOf({ status: 200, header }, request)
      for (const { labels, samples } of series) {
        const { device = '' } = Object.fromEntries(labels)
        seen.set(device, [...(seen.get(device) ?? []), ...samples.map(({ value }) => value)])
      }
      textsMax = Math.max(textsMax, texts.count)
      return { outcome: 'ok' }
    },
  })
  const source = new BatchSource()
  const namesOf = (round: number) => Array.from({ length: PODS }, (_, pod) => `pod-${round}-${pod}`)
  for (let round = 0; round < ROUNDS; round++) {
    const records = Object.fromEntries(namesOf(round).map((name) => [name, round]))
    const gone = namesOf(round - 1).map((name) => {
      const series = `device="${name}"`
      return { time: wallNs(), type: portType.name, series, field: '', code: 'gone', reason: 'ended' }
    })
    const push = pushes.encode([source.ports(records), source.batch(absenceType, gone)])
    assert.ok(push !== undefined)
    assert.deepEqual(await pushes.send(push, SIGNAL), { outcome: 'ok' })
    assert.ok(book.seriesCount <= 2 * 2 * PODS, `${book.seriesCount} series`)
  }
  assert.ok(textsMax < 500 + 2 * PODS + 10, `${textsMax} texts`)
  assert.equal(seen.size, ROUNDS * PODS)
  for (const round of [0, 1000, ROUNDS - 2])
    assert.deepEqual(seen.get(`pod-${round}-2`), [round, Number.NaN], 'its value, and its end')
})

test('beyond the limit of series all are forgotten, and sent on', async () => {
  const book = new SentSeries({ seriesLimit: 1000, expiryMs: 300_000, aheadMs: 600_000 })
  const source = new BatchSource()
  const ports = (first: number) =>
    source.ports(Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`d${first + i}`, i])))
  for (let n = 0; n < 5; n++) {
    const request = book.collect([ports(n * 700)], Date.now())
    assert.deepEqual([request.rows.length, request.refused], [700, []])
    assert.ok(book.seriesCount <= 1400)
  }
})

/** Sends as 1.0 and notes the samples of each device. */
function pushesOf(book: SentSeries, budget: EncodedBudget = new EncodedBudget()) {
  const seen = new Map<string, number[]>()
  const pushes = new Pushes({
    ...{ book, budget, versions: new Versions('1.0', 'test'), external: [], isNative: false, nowMs: () => Date.now() },
    limits: { samplesMax: 5000, bytesMax: 4 << 20 },
    async send({ body }) {
      for (const { labels, samples } of decode1(body as Buffer)) {
        const { device = '' } = Object.fromEntries(labels)
        seen.set(device, [...(seen.get(device) ?? []), ...samples.map(({ value }) => value)])
      }
      return { outcome: 'ok' }
    },
  })
  const send = async (batches: Parameters<typeof pushes.encode>[0]) => {
    const push = pushes.encode(batches)
    assert.ok(push !== undefined)
    assert.deepEqual(await pushes.send(push, SIGNAL), { outcome: 'ok' })
  }
  return { seen, send }
}

test('a source whose long labels always change takes no more memory than the limits, and a neighbour loses nothing', async () => {
  const [labelCharsMax, encodedMax, labelChars, devices, rounds] = [200_000, 100_000, 2000, 100, 20]
  const limits = { seriesLimit: 1_000_000, labelCharsMax, expiryMs: 300_000, aheadMs: 600_000 }
  const [book, budget] = [new SentSeries(limits), new EncodedBudget(encodedMax)]
  const { seen, send } = pushesOf(book, budget)
  const [hostile, honest] = [new BatchSource({ id: 'hostile' }), new BatchSource({ id: 'honest' })]
  for (let round = 0; round < rounds; round++) {
    const names = Array.from({ length: devices }, (_, i) => `${round}-${i}-`.padEnd(labelChars, 'x'))
    const long = hostile.ports(Object.fromEntries(names.map((name) => [name, round])))
    await send([long, honest.ports({ a: round, b: round })])
    assert.ok(book.labelChars <= labelCharsMax + devices * (labelChars + 100), `${book.labelChars} characters`)
    assert.ok(budget.bytes <= encodedMax + labelChars + 200, `${budget.bytes} bytes`)
  }
  const all = Array.from({ length: rounds }, (_, round) => round)
  assert.deepEqual([seen.get('a'), seen.get('b')], [all, all])
  assert.equal(seen.size, rounds * devices + 2)
})

test('types without end are forgotten too', () => {
  const book = new SentSeries({ seriesLimit: 1_000_000, typesMax: 10, expiryMs: 300_000, aheadMs: 600_000 })
  const source = new BatchSource()
  for (let n = 0; n < 40; n++) {
    const type = defineType(`made_${n}`, 'Made', { count_total: counter('u64') })
    book.collect([source.batch(type, [{ count_total: n }])], Date.now())
    assert.ok(book.seriesCount <= 11, `${book.seriesCount} series`)
  }
})

test('a series without records for the time of expiry ends with the next request, and others do not', async () => {
  let nowMs = 100_000
  const limits = { seriesLimit: 1000, expiryMs: 300_000, aheadMs: 600_000 }
  const { seen, send } = pushesOf(new SentSeries(limits, () => nowMs))
  const source = new BatchSource()
  await send([source.ports({ a: 1, b: 2 })])
  nowMs += 299_000
  await send([source.ports({ b: 3 })])
  assert.deepEqual(Object.fromEntries(seen), { a: [1], b: [2, 3] })
  nowMs += 12_000
  await send([source.ports({ b: 4 })])
  assert.deepEqual(Object.fromEntries(seen), { a: [1, Number.NaN], b: [2, 3, 4] })
  await send([source.ports({ a: 5 })])
  assert.deepEqual(seen.get('a'), [1, Number.NaN, 5])
})
