import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainContext } from '../chains/chain-context.ts'
import { checkCost } from './explain-cost.ts'

test('the cost of files names the slowest, and how often a slow file is read', async (t) => {
  const folder = '/sys/class/infiniband/mlx5_0'
  // The first reading of a file is a pause of this process; the second shows the cost.
  const costsMs = new Map([
    ['state', [40, 0.05]],
    ['counters/symbol_error', [5, 12]],
    ['counters/link_downed', [0.5, 0.5]],
    ['rate', [0.25, 0.25]],
  ])
  let nowMs = 1000
  t.mock.method(performance, 'now', () => nowMs)
  const read = async (path: string) => {
    nowMs += costsMs.get(path.slice(folder.length + 1))?.shift() ?? 0
    return new Uint8Array()
  }
  const files = [...costsMs.keys()].map((name) => ({ path: `${folder}/${name}`, found: 0 }))
  const refused = { path: `${folder}/hw_counters`, found: 0, isFolder: true }
  const finding = await checkCost({ read } as unknown as ChainContext, async () => [...files, refused] as never, folder)
  assert.deepEqual(finding, {
    state: 'ok',
    tried: folder,
    answer:
      '4 files in 5.80 ms; slowest: counters/symbol_error 5.00 ms, so it is read every 5 s, ' +
      'counters/link_downed 0.50 ms, rate 0.25 ms',
  })
})
