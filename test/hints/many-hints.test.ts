import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginLife, hintOf, type SimulatedLife } from './simulated-life.ts'

const HOUR_MS = 3_600_000
/** Most statements that one question reads. */
const STATEMENTS_MAX = 10_000
/** More hints than an answer lists. */
const MANY = 300

/** Tells of a hint each second, that it opened and ended. */
function tellMany(life: SimulatedLife, count: number, fromMs: number): void {
  for (let number = 1; number <= count; number++) {
    const sinceMs = fromMs + number * 1000
    life.tell(hintOf(number, sinceMs), 'opened', sinceMs)
    life.tell(hintOf(number, sinceMs), 'ended', sinceMs + 500)
  }
}

test('a window with more hints than an answer holds goes on behind the cursor, and has each of them once', async (t) => {
  const life = await beginLife(t)
  const beganMs = life.node.nowMs
  tellMany(life, MANY, beganMs)
  life.run(MANY + 20)
  await life.flush()
  const { incidents } = life
  const window = { fromMs: beganMs, toMs: life.node.nowMs, limit: 70 }
  const listed: string[] = []
  let answer = await incidents.list(window)
  for (let answers = 1; answer.next !== undefined && answers < 20; answers++) {
    assert.equal(answer.incidents.length, window.limit)
    listed.push(...answer.incidents.map(({ id }) => id))
    answer = await incidents.list({ ...window, cursor: answer.next })
  }
  listed.push(...answer.incidents.map(({ id }) => id))
  const ids = Array.from({ length: MANY }, (_, at) => `a-node:${MANY - at}`)
  assert.deepEqual(listed, ids, 'the last that ended comes first')
})

test('a window with more statements than one question reads says from when on hints are known', async (t) => {
  const life = await beginLife(t)
  const beganMs = life.node.nowMs
  const old = hintOf(1, beganMs)
  life.tell(old, 'opened', beganMs)
  for (let told = 0; told < STATEMENTS_MAX; told++) {
    life.tell(old, 'holds', beganMs + told * 100)
    if (told % 1000 === 0) await life.flush()
  }
  const late = hintOf(2, beganMs + 8 * HOUR_MS)
  life.tell(late, 'opened', late.sinceMs)
  life.tell(late, 'ended', late.sinceMs + 30_000)
  await life.flush()
  // Simulated time jumps, so the time between is unknown.
  const after = await life.restart(9 * 3600)
  after.run(5)
  await after.flush()
  const window = { fromMs: beganMs, toMs: after.node.nowMs, limit: 10 }
  const { incidents, next = '' } = await after.incidents.list(window)
  assert.deepEqual(
    incidents.map(({ id }) => id),
    ['a-node:2'],
  )
  const { incidents: earlier } = await after.incidents.list({ ...window, cursor: next })
  assert.deepEqual(
    earlier.map(({ id }) => id),
    ['a-node:1'],
    'the next answer goes on before it',
  )
  const [short] = (await after.history.window(beganMs, beganMs + 60_000)).hints
  assert.equal(short?.event, '1', 'a shorter window has them')
})
