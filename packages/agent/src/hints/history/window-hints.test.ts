import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint } from '@sonde/sdk/api'
import { cutHint, hintEnd, lastSeenIn, type Statement, UNSTATED_MS } from './window-hints.ts'

const SEEN_MS = Date.UTC(2026, 10, 30, 14, 3)
const hint = { event: '17', seenMs: SEEN_MS } as Hint
const gap = (afterMs: number) => [{ fromMs: SEEN_MS + afterMs, toMs: SEEN_MS + afterMs + 60_000, reason: '' }]

test('a hint that was cut off ends with its process, or when it was last seen if the process went on', () => {
  const endOf = (afterMs: number) => cutHint(hint, SEEN_MS, gap(afterMs)).endedMs
  assert.equal(endOf(40_000), SEEN_MS + 40_000, 'killed between two statements')
  assert.equal(endOf(UNSTATED_MS + 1), SEEN_MS, 'its end is not kept')
  assert.equal(endOf(-40_000), SEEN_MS, 'a process that ended before')
  assert.deepEqual(cutHint(hint, SEEN_MS, []), { ...hint, endedMs: SEEN_MS, outcome: 'cut' })
})

test('only a stated end is an end, and the latest statement says when a hint was last seen', () => {
  const stated = (edge: string, seen_ms: number) => ({ event: 17n, edge, seen_ms }) as unknown as Statement
  assert.equal(hintEnd(stated('holds', SEEN_MS)), undefined)
  assert.deepEqual(hintEnd(stated('dismissed', SEEN_MS)), { endedMs: SEEN_MS, outcome: 'dismissed' })
  assert.deepEqual([...lastSeenIn([stated('holds', SEEN_MS), stated('opened', SEEN_MS - 1)])], [['17', SEEN_MS]])
})
