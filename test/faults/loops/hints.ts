import assert from 'node:assert/strict'
import { strike } from '../hints/round.ts'
import { type Counts, HintTable } from '../hints/table.ts'
import type { FaultLoop } from '../loop.ts'

const SINGLE_SHARE = 0.98
const PAIR_SHARE = 0.95
/** Fewer say nothing of a share. */
const GATED_FAULTS = 100

/** A random fault on a random simulated node, or two: their hints, soon, once, on the right device, and no other. */
export const hints: FaultLoop = {
  name: 'hints',
  what: 'one fault or two on a simulated node, of any class, workload, scenario, device, severity and onset: of those above the limits that docs/hints.md tells, 98 % of single ones, and 95 % of those in pairs that do not hide one another, are told within 10 s of their effect; none on a wrong device, and of single ones none twice and nothing else',
  testRounds: 12,
  async open() {
    const table = new HintTable()
    return {
      async round(random) {
        const found = strike(random)
        table.add(found)
        assert.deepEqual(table.wrongDevices, [])
        if (found.faults.length === 1) assert.deepEqual(found.strange, [], table.strange.at(-1))
        assert.deepEqual(table.singles.reopened, [])
      },
      gate() {
        gateShare(table.singles, SINGLE_SHARE)
        gateShare(table.pairs, PAIR_SHARE)
      },
      async close() {
        const { singles, pairs, strange, wrongDevices } = table
        const shares = `in time: ${shareOf(singles)} single ones, ${shareOf(pairs)} of pairs`
        const counts = `${wrongDevices.length} on a wrong device, ${strange.length} that no fault explains`
        const again = [...singles.reopened, ...pairs.reopened]
        const list = [...singles.missed, ...pairs.missed, ...again, ...strange].join('; ')
        return `${shares}; ${counts}, ${again.length} opened again. All of these: ${list || 'none'}`
      },
      table: () => table.markdown(),
    }
  },
}

function gateShare(counts: Counts, least: number): void {
  if (counts.heldCount < GATED_FAULTS) return
  assert.ok(counts.toldShare >= least, `${counts.toldShare} told; not: ${counts.missed.join('; ')}`)
}

function shareOf(counts: Counts): string {
  return `${(100 * counts.toldShare).toFixed(1)} % of ${counts.heldCount}`
}
