import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracebackEvent } from '@sonde/sdk/api'
import { Random, SEED } from '../../../../sdk/test/random.ts'
import { wholeEvents } from '../parts.ts'
import { WholeEvents } from './whole-events.ts'

function partOf(id: number, startMs: number, endMs: number, first?: TracebackEvent): TracebackEvent {
  return {
    ...{ id, rule: 'hot', condition: '', device: 'gpu-0', source: 'nvml', startMs, endMs, end: 'cleared' },
    ...{ errorMs: 0, samples: 1, leftOut: 0, sizeBytes: 1, isSimulated: false },
    ...(first === undefined ? {} : { first: { id: first.id, startMs: first.startMs } }),
  }
}

test('events stay in the order of their ends while parts come and leave', () => {
  const random = new Random(SEED)
  const whole = new WholeEvents()
  const parts: TracebackEvent[] = []
  for (let id = 1; id <= 400; id++) {
    const first = random.chance(0.4) ? parts.find((one) => one.first === undefined && random.chance(0.1)) : undefined
    const startMs = random.integer(0, 50)
    const part = partOf(id, startMs, startMs + random.integer(0, 5), first)
    parts.push(part)
    whole.add(part)
    if (random.chance(0.3)) {
      const [gone] = parts.splice(random.integer(0, parts.length - 1), 1)
      whole.remove(gone as TracebackEvent)
    }
    const byStart = parts.toSorted((a, b) => a.startMs - b.startMs || a.id - b.id)
    const expected = wholeEvents(byStart).sort(
      (a, b) => (b.endMs ?? 0) - (a.endMs ?? 0) || (String(a.id) < String(b.id) ? -1 : 1),
    )
    const toMs = random.integer(0, 60)
    assert.deepEqual([...whole.endedBy(Number.POSITIVE_INFINITY)], expected)
    assert.deepEqual(
      [...whole.endedBy(toMs)],
      expected.filter(({ endMs = 0 }) => endMs <= toMs),
    )
  }
})
