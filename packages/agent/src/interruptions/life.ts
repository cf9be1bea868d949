import type { Batch } from '@sonde/sdk'
import type { HintsUnknown } from '@sonde/sdk/api'
import { createOwnSource, messageOf, within } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { startTicker, type Ticker } from '../hosting/scheduler.ts'
import { interruptionType } from './interruption.ts'
import { bootId, type LifeNote, LifeNoteFile, oomKills, readLifeNote, startTicksOf } from './life-note.ts'
import { reasonOfEnd } from './reason-of-end.ts'

const NOTE_EVERY_MS = 1000
/** A disk that hangs delays neither start nor stop for longer. Unit: milliseconds. */
const DISK_LIMIT_MS = 1000

/** Options of {@link Life}. */
export interface OwnLifeOptions {
  /** File of the note; undefined if nothing is kept. */
  readonly path: string | undefined
  /** Time of the newest sample that is safe in the history; undefined without one. Unit: milliseconds. */
  readonly storedMs: () => number | undefined
  readonly emit: (batch: Batch) => void
  readonly log: Pick<Logger, 'warn'>
  readonly onFault: (error: unknown) => void
}

/**
 * Notes each second that Sonde runs, and removes the note when it stops. A note at the start therefore means that
 * Sonde ended without stopping: the samples since the note are lost, which is logged and reported.
 */
export class Life {
  /** The time that was lost before this start; undefined if nothing was. */
  interruption: HintsUnknown | undefined
  readonly #options: OwnLifeOptions
  readonly #now: Pick<LifeNote, 'pid' | 'startTicks' | 'bootId' | 'limitBytes'>
  #file: LifeNoteFile | undefined
  #ticker: Ticker | undefined
  #opened: Promise<void> = Promise.resolve()

  constructor(options: OwnLifeOptions) {
    this.#options = options
    const { pid } = process
    this.#now = { pid, startTicks: startTicksOf(pid), bootId: bootId(), limitBytes: memoryLimit() }
  }

  start(): void {
    const { path, log } = this.#options
    if (path === undefined) return
    this.#opened = this.#open(path).catch((error: unknown) => {
      log.warn({ path, reason: messageOf(error) }, 'after a crash, the next start cannot say which samples are lost')
    })
  }

  /** Notes that the stop has begun. */
  async stop(): Promise<void> {
    await within(DISK_LIMIT_MS, this.#opened)
    void this.#ticker?.stop(0)
    this.#note(true)
  }

  /** Call it when everything is written. */
  async end(): Promise<void> {
    await within(DISK_LIMIT_MS, this.#file?.remove() ?? Promise.resolve())
  }

  async #open(path: string): Promise<void> {
    const note = await readLifeNote(path)
    // Another agent of this user has the note.
    if (note !== undefined && note.pid !== process.pid && startTicksOf(note.pid) === note.startTicks) return
    if (note !== undefined) this.#tell(note)
    this.#file = await LifeNoteFile.open(path)
    this.#note(false)
    this.#ticker = startTicker(NOTE_EVERY_MS, () => this.#note(false), this.#options.onFault, 0)
  }

  #note(isStopping: boolean): void {
    const keptMs = this.#options.storedMs() ?? Date.now()
    const residentBytes = process.memoryUsage.rss()
    this.#file?.write({ ...this.#now, keptMs, residentBytes, oomKills: oomKills(), isStopping })
  }

  #tell(note: LifeNote): void {
    const { log, emit } = this.#options
    const toMs = Date.now()
    // The clock may have been set back since.
    const fromMs = Math.min(note.keptMs, toMs)
    const reason = reasonOfEnd(note, { bootId: this.#now.bootId, oomKills: oomKills() })
    this.interruption = { fromMs, toMs, reason }
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString())
    log.warn({ from, to, reason }, 'the samples of the node in this time are lost')
    const source = createOwnSource({ id: 'life', emit })
    source.report(interruptionType, { time: BigInt(toMs) * 1_000_000n, from_ms: fromMs, to_ms: toMs, reason })
    source.flush()
  }
}

/** Limit of the container or service; 0 without one. Unit: bytes. */
function memoryLimit(): number {
  const bytes = process.constrainedMemory()
  // Without a limit, the kernel says a number that is larger than any memory.
  return Number.isSafeInteger(bytes) ? bytes : 0
}
