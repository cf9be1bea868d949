import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import type { FromHost } from './protocol.ts'
import { SourceStatus } from './source-status.ts'
import { StatusOut } from './status-out.ts'

type Said = Extract<FromHost, { kind: 'status' }>

test('calls that came back are told together; news is told before, with the calls until then', async (t) => {
  // The clock stands, so that a slow machine tells no sooner; timers run.
  t.mock.method(performance, 'now', () => 0)
  const status = new SourceStatus()
  const said: Said[] = []
  const out = new StatusOut('meter', status, (message) => said.push(message as Said))
  const call = () => {
    status.stats.sampled({ durationMs: 1, endMs: 0, isFirstDuty: true })
    out.changed()
  }
  status.settle('reading', '')
  call()
  assert.deepEqual([said.length, said[0]?.state, said[0]?.calls.length], [1, 'reading', 1], 'the first at once')
  for (let time = 0; time < 5; time++) call()
  assert.equal(said.length, 1)
  status.settle('stuck', 'a call hangs')
  out.changed()
  await until('the news', () => said.length === 2)
  assert.deepEqual([said[1]?.state, said[1]?.calls.length], ['stuck', 5])
  call()
  await until('calls without news', () => said.length === 3)
  assert.equal(said[2]?.calls.length, 1)
  for (let time = 0; time < 200; time++) call()
  assert.deepEqual([said.length, said[3]?.calls.length], [4, 200], 'so many do not wait')
})
