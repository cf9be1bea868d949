import type { Integer64 } from '@sonde/sdk/internal'
import type { LinkCounters } from '../../native/doca/phy.ts'
import { ATTRIBUTE_BYTES_LIMIT, type KernelFile, KernelFiles, ReadFailure } from '../kernel-file.ts'
import { isNumber, parseAttribute } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { WideCounter } from '../wide-counter.ts'
import { docaDiagLinkType, LINK_ORIGINS } from './type.ts'

/**
 * Kinds of errors, and the counter of the adapter that counts them. The files of the driver have few bits and stop at
 * their maximum, so the adapter is preferred.
 */
const KINDS: readonly {
  readonly type: string
  readonly ofPhy?: (counters: LinkCounters) => Integer64 | undefined
  readonly hasFile: boolean
}[] = [
  { type: 'link_downed', ofPhy: ({ linkDowns }) => linkDowns, hasFile: true },
  { type: 'link_error_recovery', ofPhy: ({ recoveries }) => recoveries, hasFile: true },
  { type: 'symbol_error', ofPhy: ({ symbolErrors }) => symbolErrors, hasFile: true },
  { type: 'effective_error', ofPhy: ({ effectiveErrors }) => effectiveErrors, hasFile: false },
  { type: 'port_rcv_errors', hasFile: true },
  { type: 'local_link_integrity_errors', hasFile: true },
  { type: 'excessive_buffer_overrun_errors', hasFile: true },
]

/** Highest rate of the counters of 32 bits. */
const EVENTS_PER_S = 1e6

interface LinkCounter {
  readonly labels: { readonly device: string; readonly port: number; readonly type: string; readonly origin: string }
  read(counters: LinkCounters | undefined): Integer64 | undefined
}

/**
 * Errors of the links of one device, by kind. The origin of each kind is chosen once, because a series with a new
 * origin would jump.
 */
export class LinkErrors {
  readonly #context: SourceContext
  readonly #files: KernelFiles
  readonly #counters: readonly LinkCounter[]

  /** @param first The first counters of the adapter; undefined if the library has none. */
  constructor(device: string, context: SourceContext, first: LinkCounters | undefined) {
    this.#context = context
    this.#files = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    const folder = ['class', 'infiniband', device, 'ports'] as const
    const found = this.#files.list(...folder)
    const ports = found instanceof ReadFailure ? [] : found
    const ofPort = (port: string, isFirst: boolean) =>
      KINDS.flatMap(({ type, ofPhy, hasFile }): LinkCounter[] => {
        const labels = { device, port: Number(port), type }
        if (isFirst && first !== undefined && ofPhy?.(first) !== undefined)
          return [{ labels: { ...labels, origin: LINK_ORIGINS.phy }, read: phyCounter(ofPhy) }]
        const file = hasFile ? this.#files.file(...folder, port, 'counters', type) : undefined
        if (file === undefined || numberIn(file) === undefined) return []
        return [{ labels: { ...labels, origin: LINK_ORIGINS.driver }, read: () => numberIn(file) }]
      })
    // The library describes the only port of a function, or the first of them.
    this.#counters = (ports.length > 0 ? ports : ['1']).flatMap((port, at) => ofPort(port, at === 0))
  }

  /** Number of counters. */
  get count(): number {
    return this.#counters.length
  }

  /** @param counters The latest counters of the adapter; undefined if they could not be read. */
  report(time: bigint, counters: LinkCounters | undefined): void {
    for (const { labels, read } of this.#counters) {
      const errors = read(counters)
      if (errors !== undefined) this.#context.source.report(docaDiagLinkType, { time, ...labels, errors })
    }
  }

  /** Reports its series as gone. */
  gone(reason: string): void {
    for (const { labels } of this.#counters)
      this.#context.absences.gone(docaDiagLinkType, { ...labels, port: String(labels.port) }, reason)
  }

  close(): void {
    this.#files.close()
  }
}

function phyCounter(ofPhy: (counters: LinkCounters) => Integer64 | undefined): LinkCounter['read'] {
  const wide = new WideCounter()
  return (counters) => {
    const value = counters === undefined ? undefined : ofPhy(counters)
    return value === undefined ? undefined : wide.next(value, { nowMs: performance.now(), eventsPerS: EVENTS_PER_S })
  }
}

function numberIn(file: KernelFile): Integer64 | undefined {
  const bytes = file.read()
  const value = bytes instanceof ReadFailure ? undefined : parseAttribute(bytes)
  return value !== undefined && isNumber(value) ? value : undefined
}
