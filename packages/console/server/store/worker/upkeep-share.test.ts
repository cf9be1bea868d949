import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UpkeepShare } from './upkeep-share.ts'

const BOUND_BYTES = 1000
const PAGE_MS = 5

/**
 * The share of time that upkeep gets while pages are written without a pause: every turn is used up, and exceeded by a
 * step.
 */
function partUnder(backlogBytes: number): number {
  const share = new UpkeepShare(BOUND_BYTES)
  let [nowMs, usedMs] = [0, 0]
  while (nowMs < 100_000) {
    nowMs += PAGE_MS
    share.pageWritten(nowMs)
    const turnMs = share.turnMs(nowMs, backlogBytes)
    if (turnMs === 0) continue
    share.took(turnMs + 7)
    nowMs += turnMs + 7
    usedMs += turnMs + 7
  }
  return usedMs / nowMs
}

test('while pages keep coming, upkeep takes an eighth of the time, and more as the backlog nears its bound', () => {
  const parts = [0, 700, 850, 950].map(partUnder)
  for (const [i, wanted] of [0.125, 0.125, 0.4, 0.8].entries()) {
    const part = parts[i] ?? 0
    assert.ok(Math.abs(part - wanted) < 0.02, `${part} instead of ${wanted}`)
  }
})

test('at the bound of the backlog pages wait for upkeep, whatever it took before', () => {
  assert.ok(partUnder(BOUND_BYTES) > 0.95)
  const share = new UpkeepShare(BOUND_BYTES)
  share.took(1_000_000)
  share.pageWritten(1)
  assert.equal(share.turnMs(1, BOUND_BYTES - 1), 0)
  assert.ok(share.turnMs(1, BOUND_BYTES) > 0)
})

test('who waits for upkeep has it go on though a page came just now', () => {
  const share = new UpkeepShare(BOUND_BYTES)
  share.pageWritten(0)
  share.took(1_000_000)
  assert.equal(share.turnMs(1, 0), 0)
  assert.ok(share.turnMs(1, 0, true) > 0)
})

test('where no page came lately, upkeep has all the time', () => {
  const share = new UpkeepShare(BOUND_BYTES)
  share.pageWritten(0)
  share.took(1_000_000)
  assert.equal(share.turnMs(99, 0), 0)
  assert.ok(share.turnMs(100, 0) > 0)
})

test('near the bound, upkeep has the time between two pages', () => {
  const share = new UpkeepShare(BOUND_BYTES)
  share.pageWritten(0)
  share.took(1_000_000)
  assert.equal(share.quietMs(700), 100)
  assert.equal(share.turnMs(1, 700), 0)
  assert.equal(share.quietMs(800), 1)
  assert.ok(share.turnMs(1, 800) > 0)
})
