import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hint } from '@sonde/sdk/api'
import { beginLife, type SimulatedLife } from './simulated-life.ts'

const HOUR_MS = 3_600_000
/** What one answer holds of hints, and what one question reads of statements. */
const LIMITS = { hints: 500, statements: 20_000 }

function hintOf(number: number, sinceMs: number): Hint {
  return {
    ...{ id: `link_flap/nic-${number}`, event: String(number), rule: 'link_flap', device: `nic-${number % 8}` },
    ...{ severity: 'warning', stage: 'standing', sinceMs, seenMs: sinceMs, measuredMs: sinceMs, neededMs: 0 },
    ...{ title: 'A link flapped', comparator: '>=' },
    ...{ sentence: 'Once', value: 1, limit: 1, unit: '', evidence: [], affected: [], lacks: [] },
  }
}

/** Tells of a hint each second, that it opened and ended. */
function tellMany(life: SimulatedLife, count: number, fromMs: number): void {
  for (let number = 1; number <= count; number++) {
    const sinceMs = fromMs + number * 1000
    life.tell(hintOf(number, sinceMs), 'opened', sinceMs)
    life.tell(hintOf(number, sinceMs), 'ended', sinceMs + 500)
  }
}

test('a window with more hints than an answer holds has the latest, and counts the others', async (t) => {
  const life = await beginLife(t)
  const beganMs = life.node.nowMs
  tellMany(life, LIMITS.hints + 100, beganMs)
  life.run(LIMITS.hints + 120)
  await life.flush()
  const { hints, ended, leftOut } = await life.history.window(beganMs, life.node.nowMs)
  assert.deepEqual([hints.length, ended.length, leftOut], [0, LIMITS.hints, 100])
  assert.deepEqual([ended.at(-1)?.event, ended[0]?.event], ['101', '600'])
})

test('a window with more statements than one question reads says from when on hints are known', async (t) => {
  const life = await beginLife(t)
  const beganMs = life.node.nowMs
  const old = hintOf(1, beganMs)
  life.tell(old, 'opened', beganMs)
  for (let told = 0; told < LIMITS.statements; told++) {
    life.tell(old, 'holds', beganMs + told * 100)
    if (told % 1000 === 0) await life.flush()
  }
  const late = hintOf(2, beganMs + 8 * HOUR_MS)
  life.tell(late, 'opened', late.sinceMs)
  life.tell(late, 'ended', late.sinceMs + 30_000)
  await life.flush()
  // Nobody looked between: simulated time jumps, and that is told apart.
  const after = await life.restart(9 * 3600)
  after.run(5)
  await after.flush()
  const { ended, hints, unknown } = await after.history.window(beganMs, after.node.nowMs)
  assert.deepEqual(
    [...hints, ...ended].map(({ event }) => event),
    ['2'],
  )
  assert.match(unknown[0]?.reason ?? '', /more than 20000 statements of hints; request a shorter window/)
  assert.equal(unknown[0]?.fromMs, beganMs)
  const [short] = (await after.history.window(beganMs, beganMs + 60_000)).hints
  assert.equal(short?.event, '1', 'a shorter window has them')
})
