import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { writeFabric, writeTree } from '../../../bench/idle/tree.ts'
import type { Cgroup } from '../../cgroup.ts'
import { DocaDouble } from '../../doubles/doca/doca-double.ts'
import { temporaryDir } from '../../sonde-process.ts'
import type { FaultRun } from '../loop.ts'

/** What the recipe for Kubernetes gives a collector. */
export const LIMITS = { cores: 0.5, memoryBytes: 512 << 20 }
const ROUND_MS = 1000
const SCRAPE_ROUNDS = 10
/** Samples of the first and the last second are under way. */
const SLACK = 3
const DEVICES = ['mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3']
/** Sources of one sample a second. */
const STEADY = ['host', 'netdev', 'rdma'] as const

/** A collector within its limits. */
export interface Collector {
  /** Of `/metrics`. */
  readonly address: string
  readonly group: Cgroup
  hasEnded(): boolean
  output(): string
  /** Ends it by SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | string | null>
  /** Removes what the start needed. */
  remove(): Promise<void>
}

/** Runs a collector with everything on, and checks that each second has a sample or a count of one left out. */
export async function runCollector(start: (config: string, folder: string) => Promise<Collector>): Promise<FaultRun> {
  const directory = temporaryDir()
  const ends: (() => void)[] = [() => directory.remove()]
  const double = new DocaDouble({ after: (end) => void ends.push(end) })
  double.play(Object.fromEntries(DEVICES.map((name) => [name, { bins: [100, 50, 25] }])))
  const tree = writeTree(join(directory.path, 'node'))
  writeFabric(join(directory.path, 'node'))
  const counting = setInterval(() => tree.step(), ROUND_MS)
  ends.push(() => clearInterval(counting))
  const file = join(directory.path, 'sonde.yaml')
  writeFileSync(file, JSON.stringify(configOf(double.folder, tree)))
  const collector = await start(file, double.folder).catch((error: unknown) => {
    for (const stop of ends.reverse()) stop()
    throw error
  })
  const startedMs = performance.now()
  return {
    async round(_random, index) {
      await pause(ROUND_MS)
      assert.ok(!collector.hasEnded(), collector.output())
      if (index % SCRAPE_ROUNDS === 0) await scrape(collector.address)
    },
    async close() {
      const text = await scrape(collector.address)
      const seconds = (performance.now() - startedMs) / 1000
      // A container takes its group along.
      const [peakBytes = 0, throttled = 0] = [collector.group.peakBytes, collector.group.throttledSeconds]
      const end = await collector.stop()
      await collector.remove()
      for (const stop of ends.reverse()) stop()
      assert.equal(end, 0, collector.output())
      const overruns = checkSamples(text, seconds, collector.output())
      const used = `${(peakBytes / 1e6).toFixed(0)} MB at most with pages of files`
      return `${used}, ${throttled.toFixed(0)} s throttled, ${overruns} samples left out and counted`
    },
  }
}

function configOf(library: string, { procfs, sysfs }: { readonly procfs: string; readonly sysfs: string }) {
  const types = ['host', 'netdev', 'rdma', 'ethtool', 'pci', 'doca_telemetry_adp_retx']
  const diag = { type: 'doca_telemetry_diag', accept_taint: true, interval_ms: 1000, high_frequency: true }
  return {
    data_sources: [...types.map((type) => ({ type, interval_ms: 1000 })), diag],
    paths: { procfs, sysfs },
    native: { doca_library: library },
  }
}

async function scrape(address: string): Promise<string> {
  const answer = await fetch(`${address}/metrics`)
  assert.equal(answer.status, 200)
  return answer.text()
}

/** Each second has a sample, or a count of one that was left out; how many were. */
function checkSamples(text: string, seconds: number, output: string): number {
  const numberOf = (metric: string, source: string) =>
    Number(new RegExp(`^sonde_source_${metric}\\{source="${source}"\\} (\\S+)`, 'm').exec(text)?.[1])
  const overruns = STEADY.map((source) => {
    const [samples, left] = ['samples_total', 'overruns_total'].map((metric) => numberOf(metric, source))
    const counted = Number(samples) + Number(left)
    assert.ok(counted >= seconds - SLACK, `${source}: ${samples} samples and ${left} left out in ${seconds} s`)
    assert.equal(numberOf('restarts_total', source), 0, output)
    return Number(left)
  })
  for (const source of ['doca_telemetry_adp_retx', 'doca_telemetry_diag'])
    assert.equal(numberOf('restarts_total', source), 0, `the host of ${source} was replaced:\n${output}`)
  for (const device of DEVICES) assert.match(text, new RegExp(`^doca_adp_retx_packets\\{device="${device}"`, 'm'))
  return overruns.reduce((sum, left) => sum + left, 0)
}
