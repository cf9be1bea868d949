import { SondeError } from '@sonde/sdk'
import { within } from '@sonde/sdk/internal'
import type { EthtoolSocket } from '../../native/ethtool.ts'
import { ETHTOOL_MODULE } from '../../places.ts'
import { ReadFailure } from '../kernel-file.ts'
import type { NodeSource, Probe, SourceContext, SourceDefinition } from '../source.ts'
import { type EthtoolOptions, ethtoolOptions } from './config.ts'
import { ethtoolExplain } from './explain.ts'
import { EthtoolInterface } from './interface.ts'
import { Interfaces } from './interfaces.ts'
import { ethtoolDriverType, ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from './type.ts'

/** Interfaces that are read at most; further ones are dropped and counted. */
const INTERFACE_LIMIT = 4096
/** Share of `stuck_ms` that a sweep waits for one driver before it turns to the next. */
const PATIENCE_SHARE = 0.05
/** Share of the interval that a sweep may take; interfaces that it did not reach come first in the next. */
const BUDGET_SHARE = 0.5
const INTERVAL_MS = 1000
/** Threads on which calls can hang; the size of libuv's pool. */
const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4)

/** Statistics of network drivers and settings of their links, by the calls that the program `ethtool` makes. */
class EthtoolSource implements NodeSource {
  readonly #options: EthtoolOptions
  readonly #context: SourceContext
  readonly #openSocket: () => Promise<EthtoolSocket>
  readonly #listed: Interfaces
  readonly #interfaces = new Map<string, EthtoolInterface>()
  #socket: EthtoolSocket | undefined
  /** The interface that the next sweep begins with. */
  #turn = 0

  constructor(options: EthtoolOptions, context: SourceContext, openSocket: () => Promise<EthtoolSocket>) {
    this.#options = options
    this.#context = context
    this.#openSocket = openSocket
    this.#listed = new Interfaces(options, context.paths)
  }

  async open(): Promise<void> {
    this.#socket ??= await this.#openSocket()
  }

  probe(): Probe {
    return this.#listed.probe()
  }

  async sample(): Promise<void> {
    await this.open()
    const startMs = performance.now()
    const interfaces = this.#meet()
    await this.#sweep(interfaces, startMs)
    if (!interfaces.some(({ answeredMs }) => answeredMs >= startMs)) await this.#waitForOne(interfaces)
    this.#judge(interfaces)
  }

  close(): void {
    this.#socket?.close()
    this.#socket = undefined
    for (const known of this.#interfaces.values()) known.abandon()
    this.#interfaces.clear()
  }

  /** The interfaces of this sweep; those that left since the last one are said to be gone. */
  #meet(): EthtoolInterface[] {
    const names = this.#listed.list()
    if (names instanceof ReadFailure) throw names.error
    if (names.length > INTERFACE_LIMIT) this.#context.dropped('interface_limit', names.length - INTERFACE_LIMIT)
    const present = new Set(names.slice(0, INTERFACE_LIMIT))
    for (const [name, known] of this.#interfaces) {
      if (present.has(name)) continue
      this.#interfaces.delete(name)
      known.remove(`interface ${name} is no longer there`)
    }
    if (present.size > 0) return [...present].map((name) => this.#interfaceOf(name))
    throw new SondeError('SRC_READ', `${this.#listed.folder} has no interface that is wanted any more`)
  }

  #interfaceOf(name: string): EthtoolInterface {
    let known = this.#interfaces.get(name)
    if (known === undefined) {
      known = new EthtoolInterface(name, this.#socket as EthtoolSocket, this.#options, this.#context)
      this.#interfaces.set(name, known)
    }
    return known
  }

  /**
   * One driver after another: the kernel lets most of their calls in only one at a time. A driver that is slow is left
   * to itself, on its thread.
   */
  async #sweep(interfaces: readonly EthtoolInterface[], startMs: number): Promise<void> {
    const budgetMs = (this.#context.source.info.intervalMs || INTERVAL_MS) * BUDGET_SHARE
    const first = this.#turn % interfaces.length
    let open = readingOf(interfaces).length
    for (let i = 0; i < interfaces.length; i++) {
      const at = (first + i) % interfaces.length
      const known = interfaces[at] as EthtoolInterface
      const isSpent = i > 0 && performance.now() - startMs > budgetMs
      if (isSpent || this.#socket === undefined || open >= THREADS) {
        this.#turn = at
        return
      }
      if (known.reading !== undefined) continue
      await within(this.#options.stuck_ms * PATIENCE_SHARE, known.read())
      if (known.reading !== undefined) open++
    }
  }

  /** Where none has answered there is nothing else to do than to wait, until one does or is stuck. */
  async #waitForOne(interfaces: readonly EthtoolInterface[]): Promise<void> {
    const reading = readingOf(interfaces)
    if (reading.length === 0) return
    const oldestMs = Math.min(...reading.map(({ sinceMs }) => sinceMs))
    // Timers may ring a little before their time.
    const leftMs = Math.max(0, oldestMs + this.#options.stuck_ms - performance.now()) + 2
    await within(leftMs, Promise.race(reading.map(({ done }) => done)))
  }

  /** Tells which drivers are stuck, and throws where none is left that is not. */
  #judge(interfaces: readonly EthtoolInterface[]): void {
    const { stuck_ms } = this.#options
    const deadlineMs = performance.now() - stuck_ms
    const stuck = interfaces.filter(({ reading }) => reading !== undefined && reading.sinceMs <= deadlineMs)
    for (const known of stuck) known.reportStuck(`the driver has not answered a call for ${stuck_ms} ms`)
    if (stuck.length > 0 && (stuck.length === interfaces.length || stuck.length >= THREADS)) {
      const names = stuck.map(({ device }) => device).join(', ')
      throw new SondeError(
        'SRC_STUCK',
        `The drivers of ${names} have not answered for ${stuck_ms} ms, no other call is possible`,
      )
    }
    if (interfaces.every(({ vanished }) => vanished)) {
      const what = `the kernel knows no interface of ${this.#listed.folder}, which lists ${interfaces.length}`
      throw new SondeError('SRC_READ', `${what}; are they of another network namespace?`)
    }
  }
}

function readingOf(interfaces: readonly EthtoolInterface[]): NonNullable<EthtoolInterface['reading']>[] {
  return interfaces.flatMap(({ reading }) => reading ?? [])
}

/**
 * Registry row of the ethtool source.
 *
 * @param library Given by tests: what stands in for the C library.
 */
export function ethtoolOf(library?: string): SourceDefinition {
  const openSocket = async () => {
    // Imported by the child alone: see the README of the folder.
    const { EthtoolSocket } = await import('../../native/ethtool.ts')
    return new EthtoolSocket(library)
  }
  return {
    name: 'ethtool',
    summary: 'Network adapters by their drivers: port, priorities, lanes, PCIe stalls, link',
    types: [ethtoolLinkType, ethtoolPortType, ethtoolPriorityType, ethtoolLaneType, ethtoolDriverType],
    placement: 'process',
    module: ETHTOOL_MODULE,
    intervalMs: INTERVAL_MS,
    options: ethtoolOptions,
    look: (options, paths) => new Interfaces(options as EthtoolOptions, paths).probe(),
    explain: ethtoolExplain,
    create: (options, context) => new EthtoolSource(options as EthtoolOptions, context, openSocket),
  }
}

/** Registry row of the ethtool source. */
export const ethtool: SourceDefinition = ethtoolOf()

/**
 * What the child process looks its source up in.
 *
 * @public
 */
export const SOURCES: readonly SourceDefinition[] = [ethtool]
