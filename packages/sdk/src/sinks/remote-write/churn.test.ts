import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decode2 } from '../../../test/remote-write-peer.ts'
import { BatchSource, portType } from '../../../test/sink-records.ts'
import { wallNs } from '../../index.ts'
import { absenceType } from '../../schema/builtin.ts'
import { InternedTexts } from '../../wire/remote-write/interned.ts'
import { Pushes } from './pushes.ts'
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
