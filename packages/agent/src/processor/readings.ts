import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import type { Readings } from './shortage.ts'

/** A process of this machine, or one of its threads. */
export interface ProcessRef {
  readonly pid: number
  /** Number that the kernel gave the thread. Default: all threads of the process. */
  readonly thread?: number
}

const NANOSECONDS_PER_MS = 1e6
const MICROSECONDS_PER_MS = 1e3
const CGROUPS = '/sys/fs/cgroup'

/** Number of the thread that asks, as the kernel gave it; undefined if there is no procfs. */
export function ownThread(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return undefined
  }
}

/** Readings of the caller: of its thread in a worker, else of the process. */
export function ownReadings(): Readings {
  const thread = isMainThread ? undefined : ownThread()
  return readingsOf({ pid: process.pid, ...(thread === undefined ? {} : { thread }) })
}

/**
 * What a process had so far, as the kernel tells. It is read from the procfs of this process, even where sources are
 * given another.
 */
export function readingsOf({ pid, thread }: ProcessRef): Readings {
  const threads = thread === undefined ? threadsOf(pid) : timesOf(`/proc/${pid}/task/${thread}`)
  // The name of the program, in brackets, may hold anything.
  const state = /^.*\) (\w)/s.exec(fileText(`/proc/${pid}/stat`))?.[1]
  const { pressureMs, throttledMs } = groupOf(pid)
  return {
    ...{ atMs: performance.now(), pid, isStopped: state === 'T' || state === 't' },
    ...(threads === undefined ? {} : { threads }),
    ...(pressureMs === undefined ? {} : { pressureMs }),
    ...(throttledMs === undefined ? {} : { throttledMs }),
  }
}

/** Times of all threads; undefined if the kernel keeps none, which it shows as zeros. */
function threadsOf(pid: number): Readings['threads'] {
  const sum = { runMs: 0, waitMs: 0 }
  for (const task of namesIn(`/proc/${pid}/task`)) {
    const times = timesOf(`/proc/${pid}/task/${task}`)
    sum.runMs += times?.runMs ?? 0
    sum.waitMs += times?.waitMs ?? 0
  }
  return sum.runMs + sum.waitMs === 0 ? undefined : sum
}

function timesOf(task: string): Readings['threads'] {
  const [run, wait] = fileText(`${task}/schedstat`).split(' ').map(Number)
  if (!run || wait === undefined) return undefined
  return { runMs: run / NANOSECONDS_PER_MS, waitMs: wait / NANOSECONDS_PER_MS }
}

/** Pressure and limit of the control group, of either version of them; without one, the pressure of the machine. */
function groupOf(pid: number): Pick<Readings, 'pressureMs' | 'throttledMs'> {
  const folders = foldersOf(fileText(`/proc/${pid}/cgroup`))
  const statistics = firstOf(folders, 'cpu.stat')
  const [, unit, throttled] = /^throttled_(usec|time) (\d+)$/m.exec(statistics) ?? []
  const pressure = firstOf(folders, 'cpu.pressure') || fileText('/proc/pressure/cpu')
  const total = /^some .*total=(\d+)/m.exec(pressure)?.[1]
  return {
    ...(total === undefined ? {} : { pressureMs: Number(total) / MICROSECONDS_PER_MS }),
    ...(throttled === undefined
      ? {}
      : { throttledMs: Number(throttled) / (unit === 'usec' ? MICROSECONDS_PER_MS : NANOSECONDS_PER_MS) }),
  }
}

/** Folders in which files of the control group may be: a container may see its own as the root of them. */
function foldersOf(cgroup: string): string[] {
  return cgroup.split('\n').flatMap((line) => {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === undefined || !(controllers === '' || controllers.split(',').includes('cpu'))) return []
    const root = controllers === '' ? CGROUPS : `${CGROUPS}/${controllers}`
    return path === '/' ? [root] : [`${root}${path}`, root]
  })
}

function firstOf(folders: readonly string[], file: string): string {
  for (const folder of folders) {
    const text = fileText(`${folder}/${file}`)
    if (text !== '') return text
  }
  return ''
}

/** Empty if there is none: kernels keep some of these files only if they were built or told to. */
function fileText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
