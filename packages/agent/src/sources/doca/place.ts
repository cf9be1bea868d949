import { messageOf } from '@sonde/sdk/internal'
import type { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { Duty, SourceContext } from '../source.ts'

/** A device that refused is asked again so often. Unit: microseconds. */
const OPEN_EVERY_US = 10_000_000
/** So many failures one after another, and what was opened is opened anew. */
const FAILURES_MAX = 3
/** Option of all DOCA sources that limits their calls. */
export const LIMIT_KEY = 'stuck_ms'

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
  /** Why the series of a device are absent; undefined: they are there again. */
  readonly refused: (name: string, failure: DocaFailure | undefined) => void
  /** What was said of the device holds no longer: it left. */
  readonly left: (name: string, reason: string) => void
  /** Its duties are others now. */
  readonly changed: () => void
}

/** One device of a source: closed, open, or leaving. All of it is done one after another, whoever asks for it. */
export class DocaPlace {
  readonly name: string
  /** Why it could not be opened at the last attempt. */
  refusal: DocaFailure | undefined
  isLeaving = false
  isGone = false
  readonly #options: PlaceOptions
  readonly #open: readonly Duty[]
  readonly #leave: readonly Duty[]
  /** Whether it is there, also while what was opened before is still leaving. */
  #isListed = true
  #device: DocaDevice | undefined
  /** Contexts of the device, until they are given back. */
  #contexts: DocaReader | undefined
  /** The same while they are read. */
  #reader: DocaReader | undefined
  /** Failures one after another, by the name of the duty: a duty that makes no call never fails. */
  readonly #failures = new Map<string, number>()
  /** Whether its series left because a call hangs. */
  #isStuck = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, options: PlaceOptions) {
    this.name = name
    this.#options = options
    const common = { device: name, everyUs: OPEN_EVERY_US, limitMs: options.limitMs, limitKey: LIMIT_KEY }
    this.#open = [{ ...common, name: 'open', run: () => this.#inTurn(() => this.#tryOpen()) }]
    this.#leave = [{ ...common, name: 'close', run: () => this.#inTurn(() => this.#end()) }]
  }

  duties(): readonly Duty[] {
    if (this.isLeaving) return this.#leave
    return this.#reader?.duties().map((duty) => this.#watched(duty)) ?? this.#open
  }

  /** A call hangs: what is known of the device says nothing about now. Reported once, though the host asks often. */
  stuck(reason: string): void {
    if (this.#isStuck) return
    this.#isStuck = true
    this.#reader?.gone(reason)
  }

  /** It is not there any more: its series leave at once, its contexts when the open call came back. */
  leave(reason: string): void {
    this.#isListed = false
    if (this.isLeaving) return
    this.isLeaving = true
    this.#reader?.gone(reason)
    this.#options.left(this.name, reason)
  }

  /** It is listed. One that is still leaving is opened anew when everything of before is given back. */
  stay(): void {
    this.#isListed = true
  }

  /** Gives everything back, without a duty. */
  async close(): Promise<void> {
    this.isLeaving = true
    await this.#inTurn(() => this.#shut())
  }

  #inTurn(run: () => void | Promise<void>): Promise<void> {
    const next = this.#last.then(run)
    this.#last = next.catch(() => undefined)
    return next
  }

  async #tryOpen(): Promise<void> {
    if (this.isLeaving) return
    // What could not be given back comes first: a context that is opened twice stays for good.
    await this.#shut()
    const opened = await this.#opened()
    if (opened instanceof DocaFailure) {
      this.#refuse(opened)
      return
    }
    this.#contexts = opened
    // It left, or everything ended, while it was opened: what follows closes it.
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
    // A device that cannot do it is none that failed.
    if (failure.kind !== 'unsupported') throw failure.error
  }

  /** A duty whose failures are counted: a context that only fails is opened anew. */
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
    await this.#shut()
    this.isLeaving = false
    this.isGone = !this.#isListed
    this.#options.changed()
  }

  /** @throws SondeError Why something could not be given back; the next call tries again. */
  async #shut(): Promise<void> {
    this.#reader = undefined
    await this.#contexts?.close()
    const kept = await this.#device?.close()
    if (kept !== undefined) throw kept.error
    this.#contexts = undefined
    this.#device = undefined
  }
}
