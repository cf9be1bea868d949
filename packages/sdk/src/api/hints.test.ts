import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byWeightIn, byWeightNow, type Hint, heldWithinMs, spanOfHint } from './hints.ts'

function hintOf(id: string, more: Partial<Hint>): Hint {
  return {
    ...{ id, event: '1', rule: 'link_flap', severity: 'warning', stage: 'standing', device: 'nic-0' },
    ...{ sinceMs: 1000, seenMs: 9000, neededMs: 0, title: 'A link flapped', sentence: 'Once', value: 1, limit: 0 },
    ...{ measuredMs: 9000, comparator: '>', unit: '', evidence: [], affected: [], lacks: [] },
    ...more,
  }
}

test('a hint ends when its rule held last, and not before that is so', () => {
  const open = hintOf('open', {})
  const waiting = hintOf('waiting', { stage: 'lingering' })
  const over = hintOf('over', { endedMs: 9000, outcome: 'ended' })
  assert.deepEqual(spanOfHint(open), { fromMs: 1000 })
  for (const hint of [waiting, over]) {
    assert.deepEqual(spanOfHint(hint), { fromMs: 1000, toMs: 9000 })
    assert.deepEqual(spanOfHint(hint, 8000), { fromMs: 1000 }, 'it holds within a window that ends before')
  }
})

test('a hint counts in a window for as long as it held inside it', () => {
  const over = hintOf('over', { endedMs: 9000, outcome: 'ended' })
  assert.equal(heldWithinMs(over, { fromMs: 5000, toMs: 20_000 }), 4000)
  assert.equal(heldWithinMs(over, { fromMs: 0, toMs: 3000 }), 2000)
  assert.ok(heldWithinMs(over, { fromMs: 9001, toMs: 20_000 }) < 0, 'it was open still, and held no more')
  assert.ok(heldWithinMs(over, { fromMs: 0, toMs: 999 }) < 0)
})

test('now what holds comes first, and in a window what was worst and held for longest', () => {
  const short = hintOf('short', { severity: 'critical', endedMs: 4000, outcome: 'ended' })
  const long = hintOf('long', { severity: 'critical', endedMs: 9000, outcome: 'ended' })
  const unsure = hintOf('unsure', { severity: 'critical', outcome: 'dismissed', endedMs: 20_000 })
  const open = hintOf('open', {})
  const waiting = hintOf('waiting', { severity: 'critical', stage: 'lingering' })
  const order = (hints: Hint[]) => hints.map(({ id }) => id)
  assert.deepEqual(order([waiting, open].sort(byWeightNow)), ['open', 'waiting'])
  const sorted = [open, unsure, short, long].sort(byWeightIn({ fromMs: 0, toMs: 20_000 }))
  assert.deepEqual(order(sorted), ['long', 'short', 'open', 'unsure'])
})
