import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracebackEvent } from '@sonde/sdk/api'
import { definitionOf } from '@sonde/sdk/internal'
import type { KeptIndex, KeptSeries } from './kept-index.ts'
import { decodeEvent, decodeIndex, encodeNote } from './note.ts'
import { levelType } from './test-records.ts'

const EVENT: TracebackEvent = {
  ...{ id: 1, rule: 'r', condition: 'c', device: 'd', source: 's', startMs: 5, endMs: 6, end: 'cleared', errorMs: 0 },
  ...{ samples: 1, leftOut: 0, sizeBytes: 1, isSimulated: false },
}
const PART = { source: 's', fingerprint: levelType.fingerprint, definition: definitionOf(levelType), isRing: true }

/** An index of so many series, blocks and gaps. */
function indexOf(series: number, { blocks = 0, gaps = 0 } = {}): KeptIndex {
  return {
    parts: [PART],
    blocks: Array.from({ length: blocks }, (_, at) => [0, at * 64, 64, 1, String(at), String(at + 1)] as const),
    series: Array.from({ length: series }, (_, at): KeptSeries => {
      const times = { fromMs: 1_790_000_000_000, toMs: 1_790_000_001_000, resolutionMs: 0.1, errorMs: 0 }
      const device = { device: `d${at}`, deviceName: `name of ${at}`, kind: 'nic', near: 1, apart: ['port'] }
      return {
        ...{ part: 0, key: [at], labels: { device: `d${at}`, port: String(at % 9) }, moves: '01', samples: 5 },
        ...{ ...device, ...times },
        gaps: Array.from({ length: gaps }, (_, gap) => {
          return { fromMs: 1_790_000_000_000 + gap, toMs: 1_790_000_000_001 + gap, samples: 3 }
        }),
      }
    }),
    listed: [{ type: 't', field: 'f', labels: {} }],
    leftOut: [{ source: 's', type: 't', device: 'd1', fromMs: 1, toMs: 2.5, samples: 7 }],
    signal: { type: 't', field: 'f', labels: { a: 'b' } },
  }
}

/** Turns that the event loop had while something was done. */
async function turnsOf<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0
  let isDone = false
  const watch = () => {
    turns++
    if (!isDone) setImmediate(watch)
  }
  setImmediate(watch)
  const result = await work()
  isDone = true
  return { result, turns }
}

test('a note comes back as it was written, also where its lists take many lines', async () => {
  const index = indexOf(2000, { blocks: 3000, gaps: 4 })
  const note = await encodeNote(EVENT, index)
  assert.deepEqual(decodeEvent(note), EVENT)
  const { types, ...rest } = await decodeIndex(note)
  assert.deepEqual(rest, index)
  assert.deepEqual(
    types.map(({ fingerprint }) => fingerprint),
    [levelType.fingerprint],
  )
  const longest = Math.max(
    ...Buffer.from(note)
      .toString()
      .split('\n')
      .map((line) => line.length),
  )
  assert.ok(longest <= 40_000, `a line of ${longest} characters`)
})

test('the largest note is written and read in many turns', async () => {
  const index = indexOf(4096, { blocks: 65_536, gaps: 2 })
  const written = await turnsOf(() => encodeNote(EVENT, index))
  const read = await turnsOf(() => decodeIndex(written.result))
  assert.equal(read.result.series.length, 4096)
  assert.ok(written.turns > 3 && read.turns > 3, `${written.turns} and ${read.turns} turns`)
})

test('what is cut off, has a long line, or lists of something else is refused', async () => {
  const note = Buffer.from(await encodeNote(EVENT, indexOf(1)))
  const lines = note.toString().split('\n')
  const refused = async (text: string) =>
    assert.rejects(decodeIndex(Buffer.from(text)), { code: 'TRB_NOTE' }, text.slice(0, 99))
  await refused(note.toString().slice(0, -1))
  await refused(`${lines[0]}\n`)
  await refused(`${lines[0]}\n[1]\n`)
  await refused(`${lines[0]}\n{"texts":["${'x'.repeat(600_000)}"]}\n`)
  await refused(note.toString().replace('"series":[', '"series":{"a":[').replace(']]}', ']]}}'))
  await refused(`${note}{"parts":[null]}\n`)
  await refused(`${note}{"parts":[{}]}\n`)
  await refused(`${note}{"blocks":[[9,0,0,0,"0","0"]]}\n`)
  await refused(`${note}{"texts":[5]}\n`)
  await refused(`${note}{"baseMs":null,"series":[[]]}\n`)
})
