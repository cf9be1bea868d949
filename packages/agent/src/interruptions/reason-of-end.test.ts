import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonOfEnd } from './reason-of-end.ts'

const NOTE = {
  ...{ pid: 7, startTicks: '1', bootId: 'a', keptMs: 0, isStopping: false },
  ...{ residentBytes: 500 << 20, limitBytes: 512 << 20, oomKills: 3 },
}
const CASES = [
  {
    what: 'kill -9',
    now: { bootId: 'a', oomKills: 3 },
    reason: /ended without stopping: it was killed, or it crashed/,
  },
  {
    what: 'a full memory',
    now: { bootId: 'a', oomKills: 4 },
    reason: /the kernel ended 1 process of the node meanwhile. Sonde used 500 MiB of its limit of 512 MiB before/,
  },
  {
    what: 'a kernel that counts no kills',
    now: { bootId: 'a', oomKills: null },
    reason: /it was killed, or it crashed/,
  },
  { what: 'a restart of the node', now: { bootId: 'b', oomKills: 0 }, reason: /^The node restarted/ },
]
for (const { what, now, reason } of CASES) {
  test(`the end of a life: ${what}`, () => assert.match(reasonOfEnd(NOTE, now), reason))
}

test('the end of a life: a stop that took too long, and no limit of memory', () => {
  const now = { bootId: 'a', oomKills: 4 }
  assert.match(reasonOfEnd({ ...NOTE, isStopping: true }, now), /killed because it took too long to stop/)
  assert.match(reasonOfEnd({ ...NOTE, limitBytes: 0 }, now), /Sonde used 500 MiB before/)
})
