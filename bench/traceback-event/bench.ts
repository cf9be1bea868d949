// What it costs to keep an event of 20 000 samples of 64 counters.
import { closeSync, fsyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Agent, createAgent } from '../../packages/agent/src/agent.ts'
import { idText } from '../../packages/agent/src/native/doca/ids.ts'
import { COUNTERS } from '../../packages/agent/src/sources/doca-telemetry-diag/counters.ts'
import { silentLog } from '../../packages/agent/test/bench-parts.ts'
import { checkRooms } from '../../packages/cli/src/config/rooms.ts'
import { atMost, type BenchResult, median } from '../bench.ts'

const IDS = 64
const SAMPLES = 20_000
const PERIOD_MS = 0.1
const BEFORE_MS = 500
const LOOK_MS = 5
const LIMIT_MS = 60_000
/** What is allowed beside twice the bare write. Unit: milliseconds. */
const SPARE_MS = 50
/** The source drains its NICs so often. Unit: milliseconds. */
const DRAIN_MS = 50

/** Event and bare write in turn. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-event-'))
  const agent = agentOf(folder)
  agent.start()
  try {
    const [source] = agent.sources
    await until('samples', async () => ((await source?.taps()) ?? []).some(({ count }) => count > SAMPLES))
    const turns: { keptMs: number; bareMs: number; sizeBytes: number; samples: number; lateMs: number }[] = []
    for (let round = 0; round < rounds; round++) turns.push(await turn(agent, folder))
    const ratio = median(turns.map(({ keptMs, bareMs }) => (keptMs - SPARE_MS) / bareMs))
    const lateRatio = Math.max(...turns.map(({ lateMs }) => lateMs)) / DRAIN_MS
    const [last] = turns.slice(-1)
    return {
      figures: [
        {
          name: `closed and listed, less ${SPARE_MS} ms, against a bare write`,
          value: ratio,
          unit: 'x',
          gate: atMost(ratio, 2),
        },
        { name: 'closed and listed', value: median(turns.map(({ keptMs }) => keptMs)), unit: 'ms' },
        { name: 'bare write and fsync', value: median(turns.map(({ bareMs }) => bareMs)), unit: 'ms' },
        {
          name: 'longest time between two drains, less their period, against it',
          value: lateRatio,
          unit: 'x',
          gate: atMost(lateRatio, 1),
        },
      ],
      lines: [`Events of ${last?.samples} samples × ${IDS} counters, ${((last?.sizeBytes ?? 0) / 1e6).toFixed(1)} MB.`],
    }
  } finally {
    await agent.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function turn(agent: Agent, folder: string) {
  const source = agent.sources[0]?.name ?? ''
  const edge = (isStart: boolean, event: number) =>
    agent.traceback.onEdge(source, {
      rule: 'bench',
      device: 'mlx5_0',
      errorNs: 0n,
      monoNs: process.hrtime.bigint(),
      isStart,
      event,
    })
  const known = new Set([...agent.traceback.events()].map(({ id }) => id))
  const event = Date.now() * 1000
  edge(true, event)
  await pause(SAMPLES * PERIOD_MS - BEFORE_MS)
  const drains = watchDrains(agent)
  const endMs = performance.now()
  edge(false, event)
  const kept = await until('the event', () => {
    return [...agent.traceback.archive.byStart].find(({ id, endMs: ended }) => !known.has(id) && ended !== undefined)
  })
  const keptMs = performance.now() - endMs
  const lateMs = await drains()
  const bytes = readFileSync(agent.traceback.archive.dataPath(kept.id))
  const bareMs = bareWrite(join(folder, 'bare'), bytes)
  return { keptMs, bareMs, lateMs, sizeBytes: bytes.length, samples: kept.samples }
}

/** The longest that the newest sample of the ring was old, less the period of drains. Unit: milliseconds. */
function watchDrains(agent: Agent): () => Promise<number> {
  let worstMs = 0
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      const [tap] = (await agent.sources[0]?.taps()) ?? []
      const ageMs = Number(process.hrtime.bigint() - BigInt(tap?.newestMonoNs ?? '0')) / 1e6
      worstMs = Math.max(worstMs, ageMs - DRAIN_MS)
      await pause(LOOK_MS)
    }
  })()
  return async () => {
    isOver = true
    await looking
    return worstMs
  }
}

function bareWrite(path: string, bytes: Uint8Array): number {
  const startedMs = performance.now()
  const file = openSync(path, 'w')
  writeSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
  return performance.now() - startedMs
}

function agentOf(folder: string): Agent {
  const checked = checkRooms({
    data_sources: [{ type: 'simulator_diag', devices: ['mlx5_0'], counters: ids(), ring_ms: 3000 }],
    service: { enabled: false },
    traceback: { dir: join(folder, 'events'), before_ms: BEFORE_MS, after_ms: 0 },
  })
  if (!checked.ok) throw new Error(JSON.stringify(checked.issues))
  return createAgent({ config: checked.value.config.agent, log: silentLog, version: 'bench' })
}

/** Counters of the table, with priorities until there are enough. */
function ids(): string[] {
  const priorities = Array.from({ length: 8 }, (_, at) => BigInt(at) << 8n)
  const all = COUNTERS.flatMap(({ id, scope }) => (scope === 'priority' ? priorities.map((bits) => id | bits) : [id]))
  return all.slice(0, IDS).map(idText)
}

async function until<T>(what: string, look: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const startedMs = performance.now()
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (performance.now() - startedMs > LIMIT_MS) throw new Error(`${what} did not come within ${LIMIT_MS} ms`)
    await pause(LOOK_MS)
  }
}
