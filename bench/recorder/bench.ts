// What a flight recorder at full rate costs: simulated NICs at 10 kHz with rules, and rules at saturation.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Hosts } from '../../packages/agent/src/hosting/hosts.ts'
import type { RunningSource } from '../../packages/agent/src/hosting/running-source.ts'
import { idText } from '../../packages/agent/src/native/doca/ids.ts'
import { NO_WATCH, type Watch } from '../../packages/agent/src/rules/watch.ts'
import { COUNTERS } from '../../packages/agent/src/sources/doca-telemetry-diag/counters.ts'
import { docaDiagSamplingType, sampleFieldOf } from '../../packages/agent/src/sources/doca-telemetry-diag/type.ts'
import { simulatorDiag } from '../../packages/agent/src/sources/simulator-diag/simulator-diag.ts'
import { configured, silentLog } from '../../packages/agent/test/bench-parts.ts'
import { type Batch, readRecords, viewsOf } from '../../packages/sdk/src/index.ts'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { passNs, prepare, rivalNs } from '../traceback-engine/contest.ts'
import { cellOf, SAMPLES } from '../traceback-engine/load.ts'

const NICS = 8
const IDS = 64
const RULES = 32
const RATE = 10_000
/** Times what the C++ program takes of the processor. */
const LIMITS = { saturated: 3, atRate: 6 }
const WARM_UP_MS = 5000
const WINDOW_MS = 5000
/** What the source has not said yet may be as old. Unit: seconds. */
const REPORTED_S = 1.2
/** Time at 10 kHz at least. Unit: seconds. */
const LEAST_S = Number(process.env.SONDE_RECORDER_S ?? 60)

/** Saturation, then 10 kHz. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const saturated = saturation(rounds)
  const { figures, lines } = await atRate(rounds, saturated.rivalSampleNs)
  return {
    figures: [gated('time of a sample at saturation against C++', saturated.ratio, 'x', LIMITS.saturated), ...figures],
    lines,
  }
}

/** Sonde and the C++ program in turn: the ratio of their times, and what a sample costs the program. */
function saturation(rounds: number): { readonly ratio: number; readonly rivalSampleNs: number } {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-recorder-'))
  try {
    const cell = prepare(cellOf(RULES, IDS), folder)
    const taken = Array.from({ length: rounds }, () => ({ own: passNs(cell), rival: rivalNs(cell, 'rival') }))
    return {
      ratio: median(taken.map(({ own, rival }) => own / rival)),
      rivalSampleNs: median(taken.map(({ rival }) => rival)) / SAMPLES,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Counted {
  samples: number
  skipped: number
}

async function atRate(rounds: number, rivalSampleNs: number): Promise<BenchResult> {
  const counted = new Map<string, Counted>()
  const hosts = new Hosts([configOf()], {
    config: {
      paths: { procfs: '/proc', sysfs: '/sys' },
      limits: { source_call_ms: 5000, source_flood_bytes: 1 << 24 },
    },
    accept: (batch) => count(batch, counted),
    log: silentLog,
  })
  const idle = cpuSeconds()
  await pause(1000)
  const idleShare = cpuSeconds() - idle
  try {
    hosts.start(0)
    const [source] = hosts.sources as [RunningSource]
    await source.watch(watchOf())
    await pause(WARM_UP_MS)
    const before = { rssBytes: process.memoryUsage.rss(), counted: totalOf(counted) }
    const startedMs = performance.now()
    const shares: { on: number; off: number }[] = []
    while (shares.length < rounds || performance.now() - startedMs < LEAST_S * 1000) {
      const on = await share()
      await source.watch(NO_WATCH)
      const off = await share()
      await source.watch(watchOf())
      shares.push({ on, off })
    }
    const after = totalOf(counted)
    const seconds = (performance.now() - startedMs) / 1000
    const made = after - before.counted
    const engine = median(shares.map(({ on, off }) => on - off)) * 100
    const rivalPercent = ((rivalSampleNs * NICS * RATE) / 1e9) * 100
    const simulator = (median(shares.map(({ off }) => off)) - idleShare) * 100
    const skipped = [...counted.values()].reduce((sum, one) => sum + one.skipped, 0)
    // It says so once a second, at the beginning and at the end.
    const late = Math.max(0, NICS * RATE * (seconds - REPORTED_S) - made)
    return {
      figures: [
        gated('rules at 10 kHz, processor time against C++ at saturation', engine / rivalPercent, 'x', LIMITS.atRate),
        { name: 'rules at 10 kHz, processor', value: engine, unit: '% of a core' },
        { name: 'simulator at 10 kHz, processor', value: simulator, unit: '% of a core' },
        gated('samples lost', skipped, 'lost samples', 0),
        { name: 'samples that the time makes and that are not there', value: late, unit: 'lost samples' },
        {
          name: 'memory at the end, less that after the start',
          value: (process.memoryUsage.rss() - before.rssBytes) / 1e6,
          unit: 'MB',
        },
      ],
      lines: [
        `${NICS} NICs × ${IDS} IDs × ${RULES} rules at ${RATE} samples a second for ${seconds.toFixed(0)} s: ${made} samples, ${shares.length} pairs of windows of ${WINDOW_MS / 1000} s.`,
      ],
    }
  } finally {
    await hosts.stop(2000)
  }
}

/** Share of a core that the process takes in a window. */
async function share(): Promise<number> {
  const before = cpuSeconds()
  const startedMs = performance.now()
  await pause(WINDOW_MS)
  return (cpuSeconds() - before) / ((performance.now() - startedMs) / 1000)
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Samples that the source has said it made, each second. */
function totalOf(counted: ReadonlyMap<string, Counted>): number {
  return [...counted.values()].reduce((sum, { samples }) => sum + samples, 0)
}

function count({ type, bytes, count: records, symbols }: Batch, counted: Map<string, Counted>): void {
  if (type.name !== docaDiagSamplingType.name) return
  for (const row of readRecords(docaDiagSamplingType, viewsOf(bytes), records, symbols))
    counted.set(row.rdma_device, { samples: Number(row.samples_total), skipped: Number(row.skipped_samples_total) })
}

function configOf() {
  const devices = Array.from({ length: NICS }, (_, at) => `mlx5_${at}`)
  return configured(simulatorDiag, { devices, counters: ids().map(idText) })
}

/** Counters of the table, with ports and priorities until there are enough. */
function ids(): bigint[] {
  const priorities = Array.from({ length: 8 }, (_, at) => BigInt(at) << 8n)
  const all = COUNTERS.flatMap(({ id, scope }) => (scope === 'priority' ? priorities.map((bits) => id | bits) : [id]))
  return all.slice(0, IDS)
}

/** An equal mix of the five types, of which few begin. */
function watchOf(): Watch {
  const signals = ids().map((id) => {
    return { name: idText(id), type: 'doca_diag_sample', field: sampleFieldOf(id), labels: {}, isCounter: true }
  })
  const top = 2n ** 63n
  const tests = [
    { kind: 'gt', value: top, onSamples: 100, offSamples: 100 },
    { kind: 'lt', value: 1n, onSamples: 100, offSamples: 100 },
    { kind: 'inc_gt', value: top },
    { kind: 'dt_gt', value: top, overSamples: 500, offSamples: 500 },
    { kind: 'dt_lt', value: 1n, overSamples: 500, offSamples: 500 },
  ] as const
  const rules = Array.from({ length: RULES }, (_, at) => {
    return {
      name: `rule ${at}`,
      signal: (at * 7) % signals.length,
      test: tests[at % tests.length] as (typeof tests)[number],
    }
  })
  return { signals, rules }
}

function gated(name: string, value: number, unit: string, allowed: number): Figure {
  return { name, value, unit, gate: atMost(value, allowed) }
}
