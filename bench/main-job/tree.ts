import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts processor time in these; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100
const BYTES_PER_KILOBYTE = 1024

/** A process of a tree. */
export interface TreeProcess {
  readonly pid: number
  /** Processor time since its start, with that of the children that have ended. Unit: seconds. */
  readonly cpuSeconds: number
  /** Memory, in which a page that several processes share counts by its share for each of them. */
  readonly memoryBytes: number
}

/** A process and everything that it started and that still runs, the process first. */
export function treeOf(root: number): TreeProcess[] {
  const parents = parentsOf()
  const pids = [root]
  // The list grows while it is walked.
  for (const pid of pids) for (const [child, parent] of parents) if (parent === pid) pids.push(child)
  return pids.flatMap((pid) => processOf(pid) ?? [])
}

function parentsOf(): Map<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return new Map(pids.map((pid) => [pid, Number(statOf(pid)?.[1])]))
}

function processOf(pid: number): TreeProcess | undefined {
  const fields = statOf(pid)
  if (fields === undefined) return undefined
  // User and system time of the process, then of its children that have ended.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return { pid, cpuSeconds: ticks / TICKS_PER_SECOND, memoryBytes: proportionalBytesOf(pid) }
}

/** The fields behind the name of the program, which may contain blanks; undefined if the process has ended. */
function statOf(pid: number): string[] | undefined {
  return /^.*\) (.*)/s.exec(procFileText(`/proc/${pid}/stat`))?.[1]?.split(' ')
}

function proportionalBytesOf(pid: number): number {
  const kilobytes = /^Pss:\s*(\d+) kB/m.exec(procFileText(`/proc/${pid}/smaps_rollup`))?.[1]
  return Number(kilobytes ?? 0) * BYTES_PER_KILOBYTE
}

function procFileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}
