import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { writeFabric, writeTree } from '../../../bench/idle/tree.ts'
import { Cgroup } from '../../cgroup.ts'
import { DocaDouble } from '../../doubles/doca/doca-double.ts'
import { startSonde, temporaryDir } from '../../sonde-process.ts'
import type { FaultLoop, FaultRun } from '../loop.ts'

/** What the recipe for Kubernetes gives a collector. */
const LIMITS = { cores: 0.5, memoryBytes: 512 << 20 }
const ROUND_MS = 1000
const SCRAPE_ROUNDS = 10
/** Samples of the first and the last second are under way. */
const SLACK = 3
const DEVICES = ['mlx5_0', 'mlx5_1', 'mlx5_2', 'mlx5_3']
/** Sources of one sample a second. */
const STEADY = ['host', 'netdev', 'rdma'] as const

/** A collector with everything on, in as little as the recipe gives it. */
export const cgroup: FaultLoop = {
  name: 'cgroup',
  what: 'a second a round of an agent with every source on, in half a core and 512 MiB: it is not killed, answers, and counts each sample that it leaves out',
  testRounds: 3,
  async open(): Promise<FaultRun> {
    const group = Cgroup.make(LIMITS)
    if (group === undefined) return notHere()
    const directory = temporaryDir()
    const ends: (() => void)[] = [() => directory.remove(), () => group.remove()]
    const double = new DocaDouble({ after: (end) => void ends.push(end) })
    double.play(Object.fromEntries(DEVICES.map((name) => [name, { bins: [100, 50, 25] }])))
    const tree = writeTree(join(directory.path, 'node'))
    writeFabric(join(directory.path, 'node'))
    const counting = setInterval(() => tree.step(), ROUND_MS)
    ends.push(() => clearInterval(counting))
    const file = join(directory.path, 'sonde.yaml')
    writeFileSync(file, JSON.stringify(configOf(double.folder, tree)))
    const sonde = await startSonde(['agent', '--config', file, '--simulate'], { restarts: true, under: group.under })
    const startedMs = performance.now()
    return {
      async round(_random, index) {
        await pause(ROUND_MS)
        assert.equal(sonde.child.exitCode, null, sonde.output())
        if (index % SCRAPE_ROUNDS === 0) await scrape(sonde.address)
      },
      async close() {
        const text = await scrape(sonde.address)
        const seconds = (performance.now() - startedMs) / 1000
        const end = await sonde.stop()
        const [peakBytes = 0, throttled = 0] = [group.peakBytes, group.throttledSeconds]
        for (const stop of ends.reverse()) stop()
        assert.equal(end, 0, sonde.output())
        const overruns = checkSamples(text, seconds)
        const used = `${(peakBytes / 1e6).toFixed(0)} MB at most with pages of files`
        return `${used}, ${throttled.toFixed(0)} s throttled, ${overruns} samples left out and counted`
      },
    }
  },
}

/** Where no group may be made there is nothing to see, which a run for its own sake must not hide. */
function notHere(): FaultRun {
  const reason = 'no control group may be made here: run as root, with the controllers cpu and memory'
  return {
    round: async () => undefined,
    gate() {
      throw new Error(reason)
    },
    close: async () => reason,
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
function checkSamples(text: string, seconds: number): number {
  const numberOf = (metric: string, source: string) =>
    Number(new RegExp(`^sonde_source_${metric}\\{source="${source}"\\} (\\S+)`, 'm').exec(text)?.[1])
  const overruns = STEADY.map((source) => {
    const [samples, left] = ['samples_total', 'overruns_total'].map((metric) => numberOf(metric, source))
    const counted = Number(samples) + Number(left)
    assert.ok(counted >= seconds - SLACK, `${source}: ${samples} samples and ${left} left out in ${seconds} s`)
    assert.equal(numberOf('restarts_total', source), 0)
    return Number(left)
  })
  for (const source of ['doca_telemetry_adp_retx', 'doca_telemetry_diag'])
    assert.equal(numberOf('restarts_total', source), 0, `the host of ${source} was replaced`)
  for (const device of DEVICES) assert.match(text, new RegExp(`^doca_adp_retx_packets\\{device="${device}"`, 'm'))
  return overruns.reduce((sum, left) => sum + left, 0)
}
