import assert from 'node:assert/strict'
import { strike } from '../hints/round.ts'
import { HintTable } from '../hints/table.ts'
import type { FaultLoop } from '../loop.ts'

const TOLD_SHARE = 0.98
/** Fewer say nothing of a share. */
const GATED_ROUNDS = 100

/** A random fault on a random simulated node: its hint, soon, on the right device, and no other. */
export const hints: FaultLoop = {
  name: 'hints',
  what: 'one fault on a simulated node, of any class, workload, scenario, device, severity and onset: 98 % of those above the limits that docs/hints.md tells are told within 10 s of their effect, none on a wrong device, nothing else is told',
  testRounds: 20,
  async open() {
    const table = new HintTable()
    return {
      async round(random) {
        const found = strike(random, 1)
        table.add(found)
        assert.deepEqual(found.strange, [], table.strange.at(-1))
        assert.deepEqual(table.wrongDevices, [])
      },
      gate() {
        if (table.rounds < GATED_ROUNDS) return
        assert.ok(table.toldShare >= TOLD_SHARE, `${table.toldShare} told; not: ${table.missed.join('; ')}`)
      },
      async close() {
        const share = `${(100 * table.toldShare).toFixed(1)} % of those above the limits told in time`
        return `${share}; not: ${table.missed.join('; ') || 'none'}`
      },
      table: () => table.markdown(),
    }
  },
}
