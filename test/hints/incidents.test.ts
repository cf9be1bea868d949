import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginLife, hintOf } from './simulated-life.ts'

const STORM = 'retransmission_storm'

test('the hints of one cause are one incident: the cause first, its numbers at the start and at the peak', async (t) => {
  const life = await beginLife(t)
  life.run(75)
  const beganMs = life.node.nowMs
  life.node.start({ name: 'hash-collision', device: 'sim-nic-mlx5_3-1', durationS: 60 })
  life.node.start({ name: 'thermal-throttle', device: 'sim-gpu-3', durationS: 60 })
  life.run(150)
  await life.flush()
  const { incidents, next } = await life.incidents.list({ limit: 10 })
  const told = incidents.map(({ rule, device, hints }) => [rule, device, [...new Set(hints.map((hint) => hint.id))]])
  assert.deepEqual(told.sort(), [
    [...['congestion', 'sim-nic-mlx5_3-1'], ['congestion/sim-nic-mlx5_3-1', 'congestion/sim-nic-mlx5_4-1']],
    [...['thermal_throttle', 'sim-gpu-3'], ['thermal_throttle/sim-gpu-3', 'gpu_hot/sim-gpu-3']],
  ])
  assert.equal(next, undefined)
  const hot = incidents.find(({ rule }) => rule === 'thermal_throttle')
  assert.ok(hot && hot.affected.length >= 7 && !hot.affected.includes('sim-gpu-3'))
  const affecting = await life.incidents.list({ device: 'sim-gpu-5', limit: 10 })
  assert.deepEqual(
    affecting.incidents.map(({ id }) => id),
    [hot.id],
  )
  // A link to an incident leads to it even if it names an effect.
  for (const { event } of hot.hints) {
    const { incident, opened, peak } = await life.incidents.get(`a-node:${event}`)
    assert.equal(incident.id, hot.id)
    assert.ok(opened && peak && opened.atMs < peak.atMs && opened.value < peak.value)
  }
  // Every window has the same ids.
  const later = await life.incidents.list({ fromMs: beganMs + 40_000, toMs: beganMs + 50_000, limit: 10 })
  assert.deepEqual(later.incidents.map(({ id }) => id).sort(), incidents.map(({ id }) => id).sort())
})

test('filters select by device, rule, severity, state, words and window', async (t) => {
  const life = await beginLife(t)
  life.run(75)
  const beganMs = life.node.nowMs
  life.node.start({ name: 'link-flap', device: 'sim-nic-mlx5_3-1', durationS: 600 })
  life.run(20)
  await life.flush()
  const count = async (filter: object) => (await life.incidents.list({ limit: 10, ...filter })).incidents.length
  for (const [filter, expected] of [
    [{ device: 'sim-nic-mlx5_3-1' }, 1],
    [{ device: 'sim-nic-mlx5_4-1' }, 0],
    [{ rule: 'link_flap' }, 1],
    [{ rule: 'gpu_hot' }, 0],
    [{ severity: 'warning' }, 1],
    [{ severity: 'notice' }, 0],
    [{ state: 'open' }, 1],
    [{ state: 'ended' }, 0],
    [{ kind: 'event' }, 0],
    [{ find: 'LINK mlx5_3' }, 1],
    [{ find: 'link nothing' }, 0],
    [{ toMs: beganMs - 1000 }, 0],
    [{ fromMs: beganMs }, 1],
  ] as const)
    assert.equal(await count(filter), expected, JSON.stringify(filter))
  assert.equal(life.incidents.openCount, 1)
})

test('kill -9 at any moment of an incident leaves one incident, which is not open for ever', async (t) => {
  for (const ranS of [1, 6, 75]) {
    const first = await beginLife(t)
    first.run(75)
    first.node.start({ name: 'retransmission-storm', durationS: 60 })
    first.run(ranS)
    const ids = first.incidents.recent().map(({ id }) => id)
    const second = await first.die(30)
    second.run(40)
    await second.flush()
    const { incidents, openCount } = await second.incidents.list({ limit: 10 })
    const told = incidents.map(({ id, rule, state }) => [id, rule, state])
    assert.deepEqual(
      told,
      ids.map((id) => [id, STORM, 'ended']),
      `killed after ${ranS} s`,
    )
    assert.equal(openCount, 0)
  }
})

test('the peak compares numbers of one kind: a rule may measure errors after it measured their ratio', async (t) => {
  const life = await beginLife(t)
  life.run(1)
  const sinceMs = life.node.nowMs
  const hint = { ...hintOf(1, sinceMs), event: `${sinceMs}000000` }
  const said = [
    ['opened', 100, 'errors a bit'],
    ['holds', 5, 'errors'],
    ['holds', 9, 'errors'],
    ['ended', 7, 'errors'],
  ] as const
  for (const [at, [edge, value, unit]] of said.entries()) {
    const seenMs = sinceMs + at * 60_000
    life.tell({ ...hint, value, unit, sentence: `${value} ${unit}`, seenMs, measuredMs: seenMs }, edge, seenMs)
  }
  life.run(300)
  await life.flush()
  const { opened, peak } = await life.incidents.get(`a-node:${hint.event}`)
  assert.deepEqual([opened?.sentence, peak?.sentence], ['100 errors a bit', '9 errors'])
})
