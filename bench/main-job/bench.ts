// What `npx sonde up` costs on a bare host, with all its processes, beside Debian's netdata and node_exporter.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { atMost, type BenchResult, type Figure, median } from '../bench.ts'
import { type Program, startPrograms } from './programs.ts'
import { type TreeProcess, treeOf } from './tree.ts'

const WINDOW_MS = 90_000
/** After that time Sonde and netdata hold their usual memory and have written to their disks. */
const WARM_UP_MS = 60_000
const SCRAPE_EVERY_MS = 1000
const STOP_LIMIT_MS = 10_000
/** Limits of Sonde, as multiples of netdata. */
const LIMITS = { processor: 1, memory: 3 }

/** What a program took in each window. */
interface ProgramCost {
  readonly name: string
  readonly seriesCount: number
  /** Unit: percent of a core. */
  readonly cpuPercent: number[]
  /** Memory of all processes, and of the first one: npm, for the command that npx started. Unit: megabytes. */
  readonly memoryMb: number[]
  readonly firstMb: number[]
}

/** All programs run side by side, so that each window is the same seconds for all. */
export async function run({ rounds }: { readonly rounds: number }): Promise<BenchResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-main-job-'))
  const programs: Program[] = []
  let scrapes: NodeJS.Timeout | undefined
  try {
    programs.push(...(await startPrograms(folder)))
    const { metricsUrl = '' } = programs.find(({ name }) => name.startsWith('node_exporter')) ?? {}
    scrapes = setInterval(() => void fetch(metricsUrl).then((answer) => answer.arrayBuffer()), SCRAPE_EVERY_MS)
    await pause(WARM_UP_MS)
    const taken: ProgramCost[] = []
    for (const { name, seriesCount } of programs)
      taken.push({ name, seriesCount: await seriesCount(), cpuPercent: [], memoryMb: [], firstMb: [] })
    for (let round = 0; round < rounds; round++) await measureWindow(programs, taken)
    return { figures: figuresOf(taken), lines: linesOf(rounds) }
  } finally {
    clearInterval(scrapes)
    await Promise.all(programs.map(stop))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measureWindow(programs: readonly Program[], taken: readonly ProgramCost[]): Promise<void> {
  const look = () => programs.map(({ child }) => treeOf(child.pid ?? 0))
  const before = look().map(cpuSecondsOf)
  const startedMs = performance.now()
  await pause(WINDOW_MS)
  const seconds = (performance.now() - startedMs) / 1000
  for (const [at, tree] of look().entries()) {
    const [first] = tree
    if (first === undefined) throw new Error(`${programs[at]?.name} ended while it was measured`)
    taken[at]?.cpuPercent.push(((cpuSecondsOf(tree) - (before[at] ?? 0)) / seconds) * 100)
    taken[at]?.memoryMb.push(tree.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) / 1e6)
    taken[at]?.firstMb.push(first.memoryBytes / 1e6)
  }
}

function cpuSecondsOf(tree: readonly TreeProcess[]): number {
  return tree.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
}

function figuresOf(taken: readonly ProgramCost[]): Figure[] {
  const [sonde, netdata] = taken as [ProgramCost, ProgramCost]
  const ownMb = sonde.memoryMb.map((mb, round) => mb - (sonde.firstMb[round] ?? 0))
  const ratioOf = (ours: readonly number[], theirs: readonly number[]) =>
    median(ours.map((value, round) => value / (theirs[round] ?? Number.NaN)))
  const processor = ratioOf(sonde.cpuPercent, netdata.cpuPercent)
  const memory = ratioOf(ownMb, netdata.memoryMb)
  return [
    { name: 'processor against netdata', value: processor, unit: 'x', gate: atMost(processor, LIMITS.processor) },
    {
      name: "memory of Sonde's own processes against netdata",
      value: memory,
      unit: 'x',
      gate: atMost(memory, LIMITS.memory),
    },
    ...taken.map(({ name, cpuPercent }) => ({
      name: `processor: ${name}`,
      value: median(cpuPercent),
      unit: '% of a core',
    })),
    ...taken.map(({ name, memoryMb }) => ({ name: `memory: ${name}`, value: median(memoryMb), unit: 'MB' })),
    { name: "memory: Sonde's own processes", value: median(ownMb), unit: 'MB' },
    { name: 'memory: npm', value: median(sonde.firstMb), unit: 'MB' },
    ...taken.map(({ name, seriesCount }) => ({ name: `series: ${name}`, value: seriesCount, unit: '' })),
  ]
}

function linesOf(rounds: number): string[] {
  return [
    `${rounds} windows of ${WINDOW_MS / 1000} s, the same for all programs; figures are medians of the windows. Processor time is that of all`,
    'processes of a program, user and system. Memory is proportional: a page that several processes share counts once in all.',
  ]
}

/** Ends a program and waits for it: npx passes no signal on, but the command ends with npx. */
async function stop({ child }: Program): Promise<void> {
  const pids = treeOf(child.pid ?? 0).map(({ pid }) => pid)
  child.kill('SIGTERM')
  const deadlineMs = performance.now() + STOP_LIMIT_MS
  while (pids.some((pid) => treeOf(pid).length > 0) && performance.now() < deadlineMs) await pause(50)
  for (const pid of pids) for (const { pid: left } of treeOf(pid)) process.kill(left, 'SIGKILL')
}
