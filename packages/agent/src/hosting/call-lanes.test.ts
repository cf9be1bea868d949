import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { CallLanes } from './call-lanes.ts'

const RULES = { parallel: 4, patienceMs: 5, loadShare: 1, openLimit: 16 }

/** A call that hangs until it is released, and records its start and its states. */
function callOf(lane: string, seen: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const call = {
    lane,
    limitMs: 10,
    run: () => {
      seen.push(`${lane} starts`)
      return promise
    },
    done: () => void seen.push(`${lane} ends`),
    overdue: () => undefined,
    starved: () => undefined,
    stuck: () => void seen.push(`${lane} is stuck`),
  }
  return { call, end: resolve }
}

test('a call that waits for a lane that hangs keeps no other lane waiting', async () => {
  const lanes = new CallLanes(RULES)
  const seen: string[] = []
  const hanging = callOf('hangs', seen)
  lanes.add(hanging.call)
  lanes.add(callOf('hangs', seen).call)
  await until('it is stuck', () => seen.includes('hangs is stuck'))
  assert.deepEqual([lanes.hangs('hangs'), lanes.hangs('other')], [true, false])
  const other = callOf('other', seen)
  lanes.add(other.call)
  assert.deepEqual(seen, ['hangs starts', 'hangs is stuck', 'other starts'])
  other.end()
  await until('the other ends', () => seen.includes('other ends'))
  hanging.end()
  await until('the next call of the lane is made', () => seen.filter((line) => line === 'hangs starts').length === 2)
  assert.equal(lanes.hangs('hangs'), false)
})
