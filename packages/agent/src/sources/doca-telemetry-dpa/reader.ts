import { type RecordType, wallNs } from '@sonde/sdk'
import type { Dpa, DpaProcess, DpaUse } from '../../native/doca/dpa.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaReader } from '../doca/place.ts'
import type { Duty, SourceContext } from '../source.ts'
import type { StartedCounters } from './started-counters.ts'
import { docaDpaProcessType, docaDpaThreadType } from './type.ts'

/** Time between two readings of the names of threads. Unit: milliseconds. */
const NAMES_EVERY_MS = 10_000
/** Threads of a device that are reported at most. Each has four series. */
const THREADS_MAX = 1024
const NO_PROCESS = 'no process runs on the accelerator'
const NO_THREAD = 'no process on the accelerator has a thread'

/** Reads processes and threads of the accelerator of one device in each interval. */
export class DpaReader implements DocaReader {
  readonly #device: string
  readonly #dpa: Dpa
  readonly #context: SourceContext
  readonly #counters: StartedCounters
  readonly #duties: readonly Duty[]
  /** Processes with series, and why the counter of each does not run. */
  readonly #processes = new Map<number, DocaFailure | undefined>()
  /** Processes whose threads have no use, although the counter ran: another program may have stopped it. */
  readonly #stopped = new Set<number>()
  /** Threads with series: the process of each, by `process thread`. */
  readonly #threads = new Map<string, number>()
  #names: ReadonlyMap<string, string> = new Map()
  #namesMs = Number.NEGATIVE_INFINITY
  /** Types without a series. */
  readonly #empty = new Set<RecordType>()

  constructor(device: string, dpa: Dpa, counters: StartedCounters, context: SourceContext) {
    this.#device = device
    this.#dpa = dpa
    this.#context = context
    this.#counters = counters
    const everyUs = context.intervalMs * 1000
    this.#duties = [{ device, name: 'read', everyUs, paces: 'report', run: () => this.#read() }]
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  gone(reason: string): void {
    for (const key of this.#threads.keys()) this.#leaveThread(key, reason)
    for (const process of this.#processes.keys()) this.#leaveProcess(process, reason)
    for (const type of this.#empty) this.#context.absences.gone(type, { rdma_device: this.#device }, reason)
    this.#empty.clear()
  }

  async close(): Promise<void> {
    await this.#counters.stopAll()
    await this.#dpa.close()
  }

  async #read(): Promise<void> {
    const processes = await this.#dpa.processes()
    if (processes instanceof DocaFailure) throw processes.error
    await this.#follow(processes)
    const use = await this.#dpa.use()
    if (use instanceof DocaFailure) throw use.error
    await this.#readNames(use)
    this.#report(processes, use)
  }

  /** Starts the counters of new processes, and forgets those of processes that have ended. */
  async #follow(processes: readonly DpaProcess[]): Promise<void> {
    const present = new Set(processes.map(({ id }) => id))
    for (const process of this.#processes.keys()) {
      if (present.has(process)) continue
      const reason = 'the process has ended'
      for (const [key, owner] of this.#threads) if (owner === process) this.#leaveThread(key, reason)
      this.#leaveProcess(process, reason)
      this.#counters.forget(process)
    }
    for (const process of present) {
      const isCounted = this.#processes.has(process) && this.#processes.get(process) === undefined
      if (!isCounted || this.#stopped.has(process)) await this.#start(process)
    }
    this.#reportEmpty(docaDpaProcessType, present.size === 0 ? NO_PROCESS : undefined)
  }

  /** A counter that does not start is tried again in the next interval. */
  async #start(process: number): Promise<void> {
    const failure = await this.#counters.start(process)
    const before = this.#processes.get(process)
    this.#processes.set(process, failure)
    const labels = { rdma_device: this.#device, process: String(process) }
    const { absences } = this.#context
    if (failure === undefined) {
      if (before !== undefined) absences.clear(docaDpaThreadType, labels, '')
      return
    }
    if (failure.kind !== 'unsupported') this.#context.failed(this.#device, failure.error)
    const code = failure.kind === 'gone' ? 'failed' : failure.kind
    absences.set(docaDpaThreadType, labels, '', code, failure.error.message)
  }

  /** Reads the names of threads from time to time, and when a thread is new. */
  async #readNames(use: readonly DpaUse[]): Promise<void> {
    const nowMs = performance.now()
    const isKnown = use.every(({ process, thread }) => this.#names.has(keyOf(process, thread)))
    if (isKnown && nowMs - this.#namesMs < NAMES_EVERY_MS) return
    const threads = await this.#dpa.threads()
    if (threads instanceof DocaFailure) throw threads.error
    this.#namesMs = nowMs
    this.#names = new Map(threads.map(({ process, id, name }) => [keyOf(process, id), name]))
  }

  #report(processes: readonly DpaProcess[], use: readonly DpaUse[]): void {
    const time = wallNs()
    const { source } = this.#context
    const rdma_device = this.#device
    for (const { id, name, threads } of processes)
      source.report(docaDpaProcessType, { time, rdma_device, process: id, name, threads })
    this.#reportEmpty(docaDpaThreadType, this.#noThread(processes, use))
    const reported = use.slice(0, THREADS_MAX)
    if (use.length > THREADS_MAX) this.#context.dropped('threads_limit', use.length - THREADS_MAX)
    const present = new Set(reported.map(({ process, thread }) => keyOf(process, thread)))
    this.#findStopped(processes, use)
    for (const [key, owner] of this.#threads) {
      const reason = this.#stopped.has(owner) ? 'another program stopped the counter' : 'the thread has ended'
      if (!present.has(key)) this.#leaveThread(key, reason)
    }
    for (const { process, thread, activeSeconds, cycles, instructions, executions } of reported) {
      const key = keyOf(process, thread)
      this.#threads.set(key, process)
      source.report(docaDpaThreadType, {
        time,
        rdma_device,
        process,
        thread,
        name: this.#names.get(key) ?? '',
        active_seconds_total: activeSeconds,
        cycles_total: cycles,
        instructions_total: instructions,
        executions_total: executions,
      })
    }
  }

  /** Finds the processes whose counters the next reading checks. */
  #findStopped(processes: readonly DpaProcess[], use: readonly DpaUse[]): void {
    const counted = new Set(use.map(({ process }) => process))
    this.#stopped.clear()
    for (const { id, threads } of processes) if (threads > 0 && !counted.has(id)) this.#stopped.add(id)
  }

  /** A process whose counter does not run has a reason of its own. */
  #noThread(processes: readonly DpaProcess[], use: readonly DpaUse[]): string | undefined {
    if (processes.length === 0) return NO_PROCESS
    const hasAny = use.length > 0 || processes.some(({ threads }) => threads > 0)
    return hasAny ? undefined : NO_THREAD
  }

  /** Reports why a type has no series; undefined if it has any. */
  #reportEmpty(type: RecordType, reason: string | undefined): void {
    const { absences } = this.#context
    const labels = { rdma_device: this.#device }
    if (reason !== undefined) {
      this.#empty.add(type)
      absences.set(type, labels, '', 'unsupported', reason)
    } else if (this.#empty.delete(type)) absences.clear(type, labels, '')
  }

  #leaveProcess(process: number, reason: string): void {
    this.#processes.delete(process)
    const labels = { rdma_device: this.#device, process: String(process) }
    this.#context.absences.gone(docaDpaProcessType, labels, reason)
    this.#context.absences.gone(docaDpaThreadType, labels, reason)
  }

  #leaveThread(key: string, reason: string): void {
    this.#threads.delete(key)
    const [process = '', thread = ''] = key.split(' ')
    this.#context.absences.gone(docaDpaThreadType, { rdma_device: this.#device, process, thread }, reason)
  }
}

function keyOf(process: number, thread: number): string {
  return `${process} ${thread}`
}
