import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { Duty, SourceContext } from '../source.ts'

/** A device that refused is asked again so often. Unit: microseconds. */
const OPEN_EVERY_US = 10_000_000
/** So many failures one after another, and what was opened is opened anew. */
const FAILURES_MAX = 3
/** Option of all DOCA sources that limits their calls. */
const LIMIT_KEY = 'stuck_ms'

/** What a source reads of one device while that is open. */
export interface DocaReader {
  /** What is to be done of it; the same array while nothing changes. A duty throws where a call failed. */
  duties(): readonly Duty[]
  /** Its series leave the views, for this reason. */
  gone(reason: string): void
  /** Gives its contexts back. */
  close(): Promise<void>
}

/** Makes what reads a device. A failure says why it cannot be read, and is told of its series. */
export type OpenReader = (device: DocaDevice, context: SourceContext) => Promise<DocaReader | DocaFailure>

/** What a {@link DocaPlace} is made with. */
export interface PlaceOptions {
  readonly context: SourceContext
  /** Longest that a call may take. Unit: milliseconds. */
  readonly limitMs: number
  readonly openDevice: () => Promise<DocaDevice | DocaFailure>
  readonly openReader: OpenReader
  /** Why the series of a device are absent. */
  readonly refused: (name: string, failure: DocaFailure) => void
  /** Its duties are others now. */
  readonly changed: () => void
}

/** One device of a source: closed, open, or leaving. Everything of it is done by its duties, so one after another. */
export class DocaPlace {
  readonly name: string
  /** Why it could not be opened at the last attempt. */
  refusal: DocaFailure | undefined
  isLeaving = false
  isGone = false
  readonly #options: PlaceOptions
  readonly #open: readonly Duty[]
  readonly #leave: readonly Duty[]
  #device: DocaDevice | undefined
  #reader: DocaReader | undefined
  #failures = 0

  constructor(name: string, options: PlaceOptions) {
    this.name = name
    this.#options = options
    const common = { device: name, everyUs: OPEN_EVERY_US, limitMs: options.limitMs, limitKey: LIMIT_KEY }
    this.#open = [{ ...common, name: 'open', run: () => this.#tryOpen() }]
    this.#leave = [{ ...common, name: 'close', run: () => this.#end() }]
  }

  duties(): readonly Duty[] {
    if (this.isLeaving) return this.#leave
    return this.#reader?.duties().map((duty) => this.#watched(duty)) ?? this.#open
  }

  /** A call hangs: what is known of the device says nothing about now. */
  stuck(reason: string): void {
    this.#reader?.gone(reason)
  }

  /** It is not there any more: its series leave at once, its contexts when the open call came back. */
  leave(reason: string): void {
    if (this.isLeaving) return
    this.isLeaving = true
    this.#reader?.gone(reason)
  }

  /** Gives everything back, without a duty. */
  async close(): Promise<void> {
    this.isLeaving = true
    await this.#shut()
  }

  async #tryOpen(): Promise<void> {
    const opened = await this.#opened()
    if (opened instanceof DocaFailure) {
      const isNews = this.refusal?.error.message !== opened.error.message
      this.refusal = opened
      if (isNews) this.#options.refused(this.name, opened)
      // A device that cannot do it is none that failed.
      if (opened.kind === 'unsupported') return
      throw opened.error
    }
    // It left, or everything ended, while it was opened.
    this.#reader = opened
    if (this.isLeaving) return this.#shut()
    this.refusal = undefined
    this.#failures = 0
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

  /** A duty whose failures are counted: a context that only fails is opened anew. */
  #watched(duty: Duty): Duty {
    const run = async () => {
      try {
        await duty.run()
        this.#failures = 0
      } catch (error) {
        if (++this.#failures >= FAILURES_MAX) await this.#reopen(String((error as Error).message))
        throw error
      }
    }
    return { ...duty, limitMs: this.#options.limitMs, limitKey: LIMIT_KEY, run }
  }

  async #reopen(reason: string): Promise<void> {
    if (this.isLeaving) return
    this.#reader?.gone(reason)
    await this.#shut()
    this.#options.changed()
  }

  async #end(): Promise<void> {
    await this.#shut()
    this.isGone = true
    this.#options.changed()
  }

  async #shut(): Promise<void> {
    const [reader, device] = [this.#reader, this.#device]
    this.#reader = undefined
    this.#device = undefined
    await reader?.close()
    await device?.close()
  }
}
