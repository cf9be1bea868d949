import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SourceOutlet } from '../../packages/agent/src/hosting/source-outlet.ts'
import { KernelFiles, ReadFailure } from '../../packages/agent/src/sources/kernel-file.ts'
import { isNumber, parseAttribute } from '../../packages/agent/src/sources/kernel-text.ts'
import { pci } from '../../packages/agent/src/sources/pci/pci.ts'
import { rdma } from '../../packages/agent/src/sources/rdma/rdma.ts'
import type { SourceDefinition } from '../../packages/agent/src/sources/source.ts'
import { check } from '../../packages/sdk/src/config/index.ts'
import { messageOf } from '../../packages/sdk/src/internal/index.ts'
import { atLeast, atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { makeNode, makePorts, tellingPaths } from './tree.ts'

const COUNTERS = 64
const SWEEPS_PER_ROUND = 2000
const US_PER_MS = 1000
const RATIO_GATE = 5
const PORTS = 256
/** Times the reads alone of the same files, which say how fast the machine is. */
const LIMITS = { ports: 6, devices: 3 }
const PORT_SWEEPS_PER_ROUND = 40
const DEVICES = 67
const READ_BYTES = 4096
const IDLE_MS = 250

/** The first 64 counters of the network interfaces of this machine; with fewer, some twice. */
function counterPaths(): string[][] {
  const names = readdirSync('/sys/class/net').flatMap((device) =>
    readdirSync(`/sys/class/net/${device}/statistics`).map((name) => ['class', 'net', device, 'statistics', name]),
  )
  return Array.from({ length: COUNTERS }, (_, index) => names[index % names.length] ?? [])
}

/**
 * Mean cost of a sweep: processor time of the main thread, because other programs on the machine must not count. It is
 * never more than the clock says, because the kernel counts coarsely. Unit: milliseconds.
 */
async function costMs(count: number, sweep: () => void | Promise<void>): Promise<number> {
  const startMs = performance.now()
  const start = process.threadCpuUsage()
  for (let i = 0; i < count; i++) await sweep()
  const { user, system } = process.threadCpuUsage(start)
  return Math.min((user + system) / 1000, performance.now() - startMs) / count
}

/** 64 counters, by files that are kept open and by `readFileSync`, in turn. */
async function counterFigures(rounds: number): Promise<Figure[]> {
  const files = new KernelFiles('/sys', { readsPerOpen: 256 })
  const paths = counterPaths()
  const kept = paths.map((path) => files.file(...path))
  const plain = paths.map((path) => join('/sys', ...path))
  const values: (number | bigint)[] = new Array(COUNTERS).fill(0)
  const ours = () => {
    for (let i = 0; i < COUNTERS; i++) {
      const bytes = kept[i]?.read()
      const value = bytes === undefined || bytes instanceof ReadFailure ? 'empty' : parseAttribute(bytes)
      if (!isNumber(value)) throw new Error(`${plain[i]} holds no counter`)
      values[i] = value
    }
  }
  const theirs = () => {
    for (let i = 0; i < COUNTERS; i++) values[i] = Number(readFileSync(plain[i] ?? '', 'utf8'))
  }
  const taken: { ours: number; theirs: number }[] = []
  for (let round = -2; round < rounds; round++) {
    const times = {
      ours: (await costMs(SWEEPS_PER_ROUND, ours)) * US_PER_MS,
      theirs: (await costMs(SWEEPS_PER_ROUND / 5, theirs)) * US_PER_MS,
    }
    if (round >= 0) taken.push(times)
  }
  files.close()
  const us = median(taken.map((times) => times.ours))
  const ratio = median(taken.map((times) => times.theirs / times.ours))
  return [
    { name: '64 counters: one sweep', value: us, unit: 'µs' },
    { name: '64 counters: readFileSync', value: median(taken.map((times) => times.theirs)), unit: 'µs' },
    { name: '64 counters: against readFileSync', value: ratio, unit: 'x', gate: atLeast(ratio, RATIO_GATE) },
  ]
}

/** A source on a made tree, as a host runs it. The tree goes when it is closed. */
async function openSource(definition: SourceDefinition, root: string, options: object = {}) {
  const { name, intervalMs } = definition
  const checked = check(definition.options, options, name)
  if (!checked.ok) throw new Error(`the options of ${name} are others by now`)
  const failed = {
    add(place: string, error: unknown): never {
      throw new Error(`${place}: ${messageOf(error)}`)
    },
  }
  const { context, source } = new SourceOutlet({
    ...{ name, intervalMs, emit: () => undefined, stats: { failed, dropped: new Map() } },
    paths: { procfs: join(root, 'proc'), sysfs: join(root, 'sys') },
  })
  const { create } = await definition.load()
  const node = create(checked.value, context)
  const [duty] = node.duties()
  const sweep = async () => {
    await duty?.run()
    source.flush()
  }
  const close = async () => {
    await node.close()
    rmSync(root, { recursive: true })
  }
  return { sweep, close }
}

/**
 * What several kinds of sweeps cost, in rounds that follow each other without a pause, each kind once a round. Unit:
 * milliseconds for each round.
 */
async function busyMs(rounds: number, ...sweeps: readonly (() => void | Promise<void>)[]): Promise<number[][]> {
  const taken = sweeps.map((): number[] => [])
  for (let round = -2; round < rounds; round++) {
    for (const [index, sweep] of sweeps.entries()) {
      const ms = await costMs(PORT_SWEEPS_PER_ROUND, sweep)
      if (round >= 0) taken[index]?.push(ms)
    }
  }
  return taken
}

/** What a sweep takes against the reads alone, within the rounds. */
function againstReads(sweepsMs: readonly number[], readsMs: readonly number[]): number {
  return median(sweepsMs.map((ms, round) => ms / (readsMs[round] ?? Number.NaN)))
}

/** Reads the files of a sweep and does nothing else: the least time that a program on Node needs. */
function openReads(paths: readonly string[]) {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  const descriptors = paths.map((path) => openSync(path, 'r'))
  const sweep = () => {
    for (const descriptor of descriptors) readSync(descriptor, buffer, 0, READ_BYTES, 0)
  }
  const close = () => {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
  return { sweep, close, count: descriptors.length }
}

/** The files below a folder that this process keeps open. */
function openFilesBelow(root: string): string[] {
  const descriptors = readdirSync('/proc/self/fd').map((name) => join('/proc/self/fd', name))
  return descriptors.flatMap((path) => {
    try {
      const target = readlinkSync(path)
      return target.startsWith(`${root}/`) ? [target] : []
    } catch {
      // That of the list itself.
      return []
    }
  })
}

async function portFigures(rounds: number): Promise<Figure[]> {
  const root = makePorts(PORTS)
  const reads = openReads(tellingPaths(root, PORTS))
  const many = await openSource(rdma, root)
  const firstMs = await costMs(1, many.sweep)
  const [manyMs = [], readsMs = []] = await busyMs(rounds, many.sweep, reads.sweep)
  const ratio = againstReads(manyMs, readsMs)
  const idle: number[] = []
  for (let i = 0; i < rounds; i++) {
    await wait(IDLE_MS)
    idle.push(await costMs(1, many.sweep))
  }
  reads.close()
  await many.close()
  const few = await openSource(rdma, makePorts(8))
  const [fewMs = []] = await busyMs(rounds, few.sweep)
  await few.close()
  const all = await openSource(rdma, makePorts(PORTS), { sweep_limit_ms: 1000 })
  const [allMs = []] = await busyMs(1, all.sweep)
  await all.close()
  return [
    {
      name: `${PORTS} ports: one sweep, against the reads alone`,
      value: ratio,
      unit: 'x',
      gate: atMost(ratio, LIMITS.ports),
    },
    { name: `${PORTS} ports: one sweep`, value: median(manyMs), unit: 'ms' },
    { name: `${PORTS} ports: ${reads.count} reads alone`, value: median(readsMs), unit: 'ms' },
    { name: `${PORTS} ports: one sweep after a pause`, value: median(idle), unit: 'ms' },
    { name: `${PORTS} ports: the first sweep, in parts`, value: firstMs, unit: 'ms' },
    { name: `${PORTS} ports: every file at once`, value: median(allMs), unit: 'ms' },
    { name: '8 ports: every file at once', value: median(fewMs), unit: 'ms' },
  ]
}

async function deviceFigures(rounds: number): Promise<Figure[]> {
  const root = makeNode()
  const node = await openSource(pci, root)
  await costMs(1, node.sweep)
  const reads = openReads(openFilesBelow(root))
  const [ms = [], readsMs = []] = await busyMs(rounds, node.sweep, reads.sweep)
  await node.close()
  reads.close()
  const ratio = againstReads(ms, readsMs)
  return [
    {
      name: `${DEVICES} PCI devices: one sweep, against ${reads.count} reads alone`,
      value: ratio,
      unit: 'x',
      gate: atMost(ratio, LIMITS.devices),
    },
    { name: `${DEVICES} PCI devices: one sweep`, value: median(ms), unit: 'ms' },
  ]
}

/** What reading the kernel's files costs; see the README beside. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const figures = [...(await counterFigures(rounds)), ...(await portFigures(rounds)), ...(await deviceFigures(rounds))]
  return {
    figures,
    lines: [
      'Counters of the network interfaces of this machine; ports of 56 files each and PCI devices in trees in memory.',
    ],
  }
}
