// Lists incidents of a store in a process of its own, and prints times and memory as JSON: PATH NOW_MS HOURS ROUNDS.
import { createStore } from '@sonde/console'
import type { HintsAnswer } from '@sonde/sdk/api'
import { HintHistory } from '../../packages/agent/src/hints/history/hint-history.ts'
import { Incidents } from '../../packages/agent/src/incidents/incidents.ts'
import { median } from '../bench.ts'

/** What was measured. Times are medians in milliseconds; memory is the most that the process had, in MB. */
export interface Listed {
  readonly windowMs: number
  readonly windowCount: number
  readonly firstMs: number
  readonly nextMs: number
  readonly wordsMs: number
  readonly wordsPart: number
  readonly oneMs: number
  readonly idleMb: number
  readonly mostMb: number
}

const [path = '', now = '', hours = '', rounds = ''] = process.argv.slice(2)
const nowMs = Number(now)
const store = await createStore({ path, maxBytes: 2 ** 40 })
const answer: HintsAnswer = {
  ...{ nowMs, rules: 0, blind: [], fromMs: nowMs - 3_600_000, toMs: nowMs, hints: [], ended: [], unknown: [] },
}
const incidents = new Incidents({
  node: 'bench',
  hintHistory: new HintHistory(
    { answer: () => answer, startedMs: nowMs, pauses: [] },
    { history: store, records: (request) => store.records(request) },
  ),
  traceback: {
    *latest() {
      yield* []
    },
    partsOf: () => [],
    opened: async () => undefined,
    openCount: 0,
    archive: { unreadable: 0 },
  },
  acknowledgedBy: () => undefined,
})
const memoryMb = () => (process.resourceUsage().maxRSS * 1024) / 1e6

/** The median time of a question after two that warm up. */
async function timed(ask: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let round = -2; round < Number(rounds); round++) {
    const startMs = performance.now()
    await ask()
    if (round >= 0) took.push(performance.now() - startMs)
  }
  return median(took)
}

const idleMb = memoryMb()
const fromMs = nowMs - Number(hours) * 3_600_000
const { incidents: inWindow } = await incidents.list({ fromMs, limit: 1000 })
const first = await incidents.list({ limit: 100 })
const words = { find: 'words of no incident', limit: 100 }
const { next = `${nowMs}:~` } = await incidents.list(words)
const listed: Listed = {
  windowMs: await timed(() => incidents.list({ fromMs, limit: 1000 })),
  windowCount: inWindow.length,
  firstMs: await timed(() => incidents.list({ limit: 100 })),
  nextMs: await timed(() =>
    incidents.list({ limit: 100, ...(first.next === undefined ? {} : { cursor: first.next }) }),
  ),
  wordsMs: await timed(() => incidents.list(words)),
  wordsPart: (nowMs - Number(next.split(':')[0])) / 86_400_000,
  oneMs: await timed(() => incidents.get(first.incidents.at(-1)?.id ?? '')),
  idleMb,
  mostMb: memoryMb(),
}
console.log(JSON.stringify(listed))
await store.close()
