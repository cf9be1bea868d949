import { messageOf } from '@sonde/sdk/internal'
import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { Duty, SourceContext } from '../source.ts'

/** Time between two attempts to open a device that refused. Unit: microseconds. */
const OPEN_EVERY_US = 10_000_000
/** After so many failures in a row, the device is opened again. */
const FAILURES_MAX = 3
/** Option of all DOCA sources that limits their calls. */
export const LIMIT_KEY = 'stuck_ms'

/** Reads one device while it is open. */
export interface DocaReader {
  /** The duties of the device; the same array while nothing changes. A duty throws if a call failed. */
  duties(): readonly Duty[]
  /** Reports its series as gone, with this reason. */
  gone(reason: string): void
  /** Releases its contexts. */
  close(): Promise<void>
}

/** Creates the reader of a device. A failure is reported as the reason why its series are absent. */
export type OpenReader = (device: DocaDevice, context: SourceContext) => Promise<DocaReader | DocaFailure>

/** Options of {@link DocaPlace}. */
export interface PlaceOptions {
  readonly context: SourceContext
  /** Longest time of a call. Unit: milliseconds. */
  readonly limitMs: number
  /** Runs before the device is opened in its duty. */
  readonly before?: () => Promise<unknown>
  readonly openDevice: () => Promise<DocaDevice | DocaFailure>
  readonly openReader: OpenReader
  /** Reports why the series of a device are absent; undefined: they are present again. */
  readonly refused: (name: string, failure: DocaFailure | undefined) => void
  /** Reports that the device is gone. */
  readonly left: (name: string, reason: string) => void
  /** Reports that its duties have changed. */
  readonly changed: () => void
}

/** One device of a source: closed, open, or leaving. Its operations run one after another, whoever requests them. */
export class DocaPlace {
  readonly name: string
  /** Why the last attempt to open it failed. */
  refusal: DocaFailure | undefined
  isLeaving = false
  isGone = false
  readonly #options: PlaceOptions
  readonly #open: readonly Duty[]
  readonly #leave: readonly Duty[]
  /** Whether it is listed. It may be listed again while its earlier contexts are still being closed. */
  #isListed = true
  #device: DocaDevice | undefined
  /** Contexts of the device, until they are released. */
  #contexts: DocaReader | undefined
  /** The same contexts while they are read. */
  #reader: DocaReader | undefined
  /** Failures in a row, by the name of the duty. Each duty counts alone, because a duty without a call never fails. */
  readonly #failures = new Map<string, number>()
  /** Why it leaves. */
  #leftFor = ''
  /** Whether its series are gone because a call hangs. */
  #isStuck = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, options: PlaceOptions) {
    this.name = name
    this.#options = options
    const common = { device: name, everyUs: OPEN_EVERY_US, limitMs: options.limitMs, limitKey: LIMIT_KEY }
    this.#open = [{ ...common, name: 'open', run: () => this.#inTurn(() => this.#openNext()) }]
    this.#leave = [{ ...common, name: 'close', run: () => this.#inTurn(() => this.#end()) }]
  }

  /** Whether the device is read. */
  get isRead(): boolean {
    return this.#reader !== undefined
  }

  duties(): readonly Duty[] {
    if (this.isLeaving) return this.#leave
    return this.#reader?.duties().map((duty) => this.#watched(duty)) ?? this.#open
  }

  /** Reports its series as gone because a call hangs. It reports this once, although the host calls it often. */
  stuck(reason: string): void {
    if (this.#isStuck) return
    this.#isStuck = true
    this.#reader?.gone(reason)
  }

  /** The device is gone. Its series end at once, its contexts are released when the open call returns. */
  leave(reason: string): void {
    this.#isListed = false
    if (this.isLeaving) return
    this.isLeaving = true
    this.#leftFor = reason
    this.#goneFor(reason)
  }

  #goneFor(reason: string): void {
    this.#reader?.gone(reason)
    this.#options.left(this.name, reason)
  }

  /** The device is listed. If it is still leaving, it is opened again after everything is released. */
  stay(): void {
    this.#isListed = true
  }

  /** Tries to open the device before its own duty does, which reports a failure. */
  tryOpen(): Promise<void> {
    return this.#inTurn(() => this.#tryOpen()).catch(() => undefined)
  }

  /** Releases everything, outside of a duty. */
  async close(): Promise<void> {
    this.isLeaving = true
    await this.#inTurn(() => this.#shut())
  }

  #inTurn(run: () => void | Promise<void>): Promise<void> {
    const next = this.#last.then(run)
    this.#last = next.catch(() => undefined)
    return next
  }

  async #openNext(): Promise<void> {
    if (!this.isRead) await this.#options.before?.()
    await this.#tryOpen()
  }

  async #tryOpen(): Promise<void> {
    if (this.isLeaving || this.isRead) return
    // Everything from before must be released first: a context that is opened twice stays forever.
    await this.#shut()
    const opened = await this.#opened()
    if (opened instanceof DocaFailure) {
      this.#refuse(opened)
      return
    }
    this.#contexts = opened
    // If the device disappeared or the agent stopped meanwhile, the next step closes it.
    if (this.isLeaving) return
    this.#reader = opened
    if (this.refusal !== undefined) this.#options.refused(this.name, undefined)
    this.refusal = undefined
    this.#failures.clear()
    this.#options.changed()
  }

  async #opened(): Promise<DocaReader | DocaFailure> {
    const device = await this.#options.openDevice()
    if (device instanceof DocaFailure) return device
    this.#device = device
    const reader = await this.#options.openReader(device, this.#options.context)
    if (reader instanceof DocaFailure) await this.#shut()
    return reader
  }

  #refuse(failure: DocaFailure): void {
    const isNews = this.refusal?.error.message !== failure.error.message
    this.refusal = failure
    if (isNews && !this.isLeaving) this.#options.refused(this.name, failure)
    // A device that does not support the call has not failed.
    if (failure.kind !== 'unsupported') throw failure.error
  }

  /** Wraps a duty to count its failures. A context that always fails is opened again. */
  #watched(duty: Duty): Duty {
    const run = async () => {
      this.#isStuck = false
      if (this.#reader === undefined) return
      try {
        await duty.run()
        this.#failures.delete(duty.name)
      } catch (error) {
        const failures = (this.#failures.get(duty.name) ?? 0) + 1
        this.#failures.set(duty.name, failures)
        if (failures >= FAILURES_MAX) await this.#reopen(messageOf(error))
        throw error
      }
    }
    return { ...duty, limitMs: this.#options.limitMs, limitKey: LIMIT_KEY, run: () => this.#inTurn(run) }
  }

  async #reopen(reason: string): Promise<void> {
    if (this.isLeaving) return
    this.#reader?.gone(reason)
    this.#reader = undefined
    this.#options.changed()
    await this.#shut()
  }

  async #end(): Promise<void> {
    // A reading that was open when the device left has reported series since then.
    if (this.#reader !== undefined) this.#goneFor(this.#leftFor)
    await this.#shut()
    this.isLeaving = false
    this.isGone = !this.#isListed
    this.#options.changed()
  }

  /** @throws SondeError if something could not be released; the next call tries again. */
  async #shut(): Promise<void> {
    this.#reader = undefined
    await this.#contexts?.close()
    const kept = await this.#device?.close()
    if (kept !== undefined) throw kept.error
    this.#contexts = undefined
    this.#device = undefined
  }
}
