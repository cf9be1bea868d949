import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource, label, type RecordType, text, timestamp, value } from '@sonde/sdk'
import { defineOwnType } from '@sonde/sdk/internal'
import { hintType } from '../../packages/agent/src/hints/history/hint-type.ts'
import { beginLife, hintOf, type SimulatedLife } from './simulated-life.ts'

const { time: _time, rule: _rule, device: _device, ...others } = hintType.fields

/** The type of an earlier version, which has rule and device as labels. */
const earlierType = defineOwnType('sonde_hint', 'State of a hint', {
  ...{ time: timestamp(), rule: label('Rule'), device: label('Device') },
  ...others,
})

/** The type of a version whose hints have nothing in common with these. */
const strangeType = defineOwnType('sonde_hint', 'State of a hint', {
  time: timestamp(),
  event: value('u64', { help: 'Number' }),
  words: text({ help: 'All that is known' }),
})

/** A statement of a hint that began and ended within a second. */
function statementOf(life: SimulatedLife, number: number) {
  const sinceMs = life.node.nowMs - number * 400_000
  const { event, rule, device, severity, stage, title, sentence, value, comparator, limit, unit } = hintOf(
    number,
    sinceMs,
  )
  return {
    ...{ rule, device, severity, stage, title, sentence, value, comparator, limit, unit },
    ...{ time: BigInt(sinceMs + 1000) * 1_000_000n, event: BigInt(event), edge: 'ended' },
    ...{ since_ms: sinceMs, seen_ms: sinceMs + 500, needed_ms: 0, measured_ms: sinceMs },
    ...{ evidence: '[]', affected: '[]', lacks: '[]' },
  }
}

test('damaged statements and those of other versions are counted in a sentence, and hide no other incident', async (t) => {
  const life = await (await beginLife(t)).restart(3600)
  life.run(2)
  const report = (type: RecordType, statement: object) => {
    const source = createSource({ id: 'self', emit: (batch) => life.keep(batch) })
    source.report(type, statement as never)
    source.flush()
  }
  report(hintType, statementOf(life, 1))
  report(earlierType, statementOf(life, 2))
  report(strangeType, { time: BigInt(life.node.nowMs - 1000) * 1_000_000n, event: 3n, words: 'a link flapped' })
  report(hintType, { ...statementOf(life, 4), severity: '<b>fatal</b>' })
  report(hintType, { ...statementOf(life, 5), since_ms: Number.NaN })
  report(hintType, { ...statementOf(life, 6), evidence: '[{"metric"', affected: '[1, "gpu-1", null]', lacks: '{}' })
  await life.flush()
  const window = { fromMs: life.node.nowMs - 3_600_000, limit: 10 }
  const { incidents, unshown, unknown } = await life.incidents.list(window)
  assert.deepEqual(
    incidents.map(({ id, affected }) => [id, affected]),
    [
      ['a-node:1', []],
      ['a-node:2', []],
      ['a-node:6', ['gpu-1']],
    ],
  )
  assert.deepEqual(unshown, {
    count: 3,
    reason: '3 records of hints are not shown: damaged, or written by another version of Sonde.',
  })
  assert.ok(unknown.every(({ reason }) => !reason.includes('store')))
})

test('an incident that is open for hours has the number of its first hint in every window', async (t) => {
  const life = await beginLife(t)
  const beganMs = life.node.nowMs
  const [first, second] = [`${beganMs}000000`, `${beganMs}000001`]
  const cause = { ...hintOf(1, beganMs), event: first, rule: 'link_flap', device: 'nic-1' }
  const effect = { ...hintOf(2, beganMs + 10_000), event: second, rule: 'link_ber', device: 'nic-1' }
  life.tell(cause, 'opened', beganMs)
  life.tell({ ...cause, seenMs: beganMs + 20_000 }, 'ended', beganMs + 30_000)
  life.tell(effect, 'opened', effect.sinceMs)
  const hours = 5
  for (let minute = 1; minute <= hours * 60; minute++) {
    const atMs = beganMs + minute * 60_000
    life.tell({ ...effect, seenMs: atMs }, 'holds', atMs)
  }
  await life.flush()
  const later = await life.restart(hours * 3600)
  later.run(2)
  await later.flush()
  const { nowMs } = later.node
  for (const fromMs of [beganMs, beganMs + 600_000, nowMs - 600_000]) {
    const { incidents } = await later.incidents.list({ fromMs, limit: 10 })
    const listed = incidents.map(({ id, hints }) => [id, hints.map(({ event }) => event)])
    assert.deepEqual(listed, [[`a-node:${first}`, [first, second]]], `from ${(fromMs - beganMs) / 60_000} min on`)
  }
  for (const number of [first, second])
    assert.equal((await later.incidents.get(`a-node:${number}`)).incident.id, `a-node:${first}`)
})
